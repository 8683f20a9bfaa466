"""A kind of table or figure is one file: found by its name, checked, drawn from what it says that it needs."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rendering.conftest import figures, tables
from vsebench.core.errors import UserError
from vsebench.core.modules import modules_in
from vsebench.core.sources import file_of, sources_of
from vsebench.core.storage import read_json
from vsebench.rendering.kinds import (
    FigureKind,
    Instance,
    TableKind,
    by_section,
    find,
    inputs,
    instances_of_paper,
    instances_of_run,
    known,
    make,
    modules,
    read_parameters,
)
from vsebench.rendering.outline import GATHERED, read_outline
from vsebench.rendering.results import Results
from vsebench.rendering.style import style
from vsebench.rendering.writers.csv import to_csv

BASES = [TableKind, FigureKind]


@pytest.mark.parametrize("base", BASES)
def test_every_module_has_a_kind_and_every_kind_reads_known_files(base: type) -> None:
    assert {kind.__module__ for kind in known(base).values()} == set(modules_in(f"rendering/{base.folder}").values())
    for name, kind in known(base).items():
        assert set(kind.needs) <= set(GATHERED), name


@pytest.mark.parametrize("base", BASES)
def test_every_run_has_names_that_begin_with_their_kind(base: type, results: Results) -> None:
    for name, instance in instances_of_run(base, results.outline).items():
        assert re.fullmatch("[a-z0-9-]+", name)
        assert name.startswith(instance.kind.replace("_", "-"))
        assert instance.paper is None


@pytest.mark.parametrize("base", BASES)
def test_the_page_has_a_section_for_every_table_and_figure_of_a_run(base: type, results: Results) -> None:
    instances = instances_of_run(base, results.outline)
    sections = by_section(base, instances)
    in_sections = [name for names in sections.values() for name in names]
    assert len(set(in_sections)) == len(in_sections)
    for name, instance in instances.items():
        elsewhere = "task" in instance.parameters or find(base, instance.kind).section is None
        assert (name in in_sections) != elsewhere, name


def test_a_section_shows_its_kinds_by_position_and_then_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = {kind: Instance(kind, kind, {}) for kind in ("datasets", "settings", "word_vectors")}
    for kind, section, position in (("word_vectors", "data", 1), ("settings", "data", 100), ("datasets", "data", 100)):
        monkeypatch.setattr(find(TableKind, kind), "section", section)
        monkeypatch.setattr(find(TableKind, kind), "position", position)
    assert by_section(TableKind, instances)["data"] == ["word_vectors", "datasets", "settings"]


def test_a_section_that_is_not_on_the_page_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find(TableKind, "word_vectors"), "section", "elsewhere")
    with pytest.raises(
        UserError, match=r"tables\.data_sets: WordVectors\.section: there is no section 'elsewhere'; use result, "
    ):
        by_section(TableKind, {"word_vectors": Instance("word_vectors", "word_vectors", {})})


@pytest.mark.parametrize("base", BASES)
def test_it_is_made_from_the_files_that_its_kind_needs_and_no_others(
    base: type, results: Results, tmp_path: Path
) -> None:
    for name, instance in (tables if base is TableKind else figures)(results).items():
        (tmp_path / name).mkdir()
        for file in ["outline.json", *inputs(base, instance, results.outline)]:
            shutil.copy(results.folder / file, tmp_path / name / file)
        kind, alone = make(base, instance.kind, instance.parameters, name), Results(tmp_path / name)
        if isinstance(kind, TableKind):
            assert to_csv(kind.table(alone)) == to_csv(kind.table(results)), name
        else:
            with style():
                kind.figure(alone)


def test_a_figure_depends_on_its_own_module_and_on_no_other_module_of_figures(results: Results) -> None:
    for base in BASES:
        for instance in (tables if base is TableKind else figures)(results).values():
            stage, module = modules(base, instance)
            others = set(modules_in(f"rendering/{base.folder}").values()) - {module}
            assert not {file_of(other) for other in others}.intersection(sources_of(stage, module)), instance.name


def test_the_names_are_known_without_what_draws(results_folder: Path) -> None:
    """The plan reads all kinds before the first job; Matplotlib and SciPy would cost it seconds."""
    code = (
        "import sys; from pathlib import Path\n"
        "from vsebench.rendering.kinds import FigureKind, TableKind, instances_of_run\n"
        "from vsebench.rendering.outline import read_outline\n"
        "outline = read_outline(Path(sys.argv[1]))\n"
        "assert instances_of_run(FigureKind, outline) and instances_of_run(TableKind, outline)\n"
        "print([name for name in ('matplotlib', 'seaborn', 'pandas') if name in sys.modules])\n"
    )
    outline = str(results_folder / "outline.json")
    done = subprocess.run([sys.executable, "-c", code, outline], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("acuracy", {}, "there is no kind of tables 'acuracy'; use one of "),
        ("accuracy", {}, "table1: task: this key is missing; add it"),
        ("accuracy", {"task": "a/b", "metrics": 3}, "table1: metrics: unknown key"),
        ("audit", {"verdict": "maybe"}, "table1: verdict: "),
    ],
)
def test_a_wrong_kind_or_parameter_is_one_line(kind: str, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(UserError) as error:
        make(TableKind, kind, parameters, "table1")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_kind_that_reads_a_paper_is_given_its_file() -> None:
    found = instances_of_paper(TableKind, Path("config/papers/made_up.yaml"), {"table3": {"kind": "statistics"}})
    assert found["made_up_table3"].parameters["paper"] == "config/papers/made_up.yaml"
    assert found["made_up_table3"].paper == "made_up"


@pytest.mark.parametrize("text", ["{", "[]", "1"])
def test_parameters_that_are_no_json_object(text: str) -> None:
    with pytest.raises(UserError, match="--parameters"):
        read_parameters(text)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"tasks": 3}'])
def test_a_damaged_outline(text: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"outline\.json: no such file"):
        read_outline(tmp_path / "outline.json")
    (tmp_path / "outline.json").write_text(text, encoding="utf-8")
    with pytest.raises(
        UserError, match=r"outline\.json: (is not a readable outline of a run|not readable JSON .*); delete it"
    ):
        read_outline(tmp_path / "outline.json")


def test_an_outline_without_a_number_is_read_and_one_with_a_newer_number_is_refused(
    results: Results, tmp_path: Path
) -> None:
    path = tmp_path / "outline.json"
    path.write_text(results.outline.model_dump_json(), encoding="utf-8")
    assert read_outline(path) == results.outline
    path.write_text('{"schema": 99, "tasks": "as nobody knows yet"}', encoding="utf-8")
    with pytest.raises(UserError, match=r"outline\.json: schema number 99, but this version"):
        read_outline(path)


def test_the_outline_keeps_the_order_of_display(results: Results) -> None:
    assert list(results.outline.variants) == list(read_json(results.folder / "outline.json")["variants"])
    assert list(results.outline.variants)[:4] == ["random", "popularity", "oracle", "ease"]
