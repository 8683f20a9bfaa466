"""Methods whose fits ended at a limit are marked wherever they are shown, and what a limit cut short is no number."""

from dataclasses import replace

import pytest
from matplotlib.text import Text

from tests.rendering.conftest import changed, column, figures, table_kind, tables, values
from vsebench.core.tasks import Task
from vsebench.rendering.drawing import explain_marks
from vsebench.rendering.kinds import NOT_OF_FITS, FigureKind, TableKind, find, make
from vsebench.rendering.marks import CASES, EDGE, EPOCHS, ITERATIONS, MARKS, marks_of, meanings
from vsebench.rendering.page.page import fits_at_limits
from vsebench.rendering.results import Results
from vsebench.rendering.style import style
from vsebench.rendering.table import Cell, Column, Row, Table
from vsebench.rendering.writers.csv import to_csv
from vsebench.rendering.writers.latex import to_latex
from vsebench.rendering.writers.markdown import to_markdown

STOPPED = {"at_limit": True, "epochs": 40, "limit": 40}


def stopped(results: Results, *methods: str, **changes: object) -> Results:
    """Return results in which a limit stopped the fits of some methods, or of all if none is named."""
    entries = [
        entry | STOPPED | changes if not methods or entry["method"] in methods else entry for entry in results.settings
    ]
    return changed(results, settings=entries)


@pytest.mark.parametrize(
    ("fits", "marks"),
    [
        ([{"epochs": 3, "at_limit": False, "on_edges": []}, {"epochs": 3}], ""),
        ([{"epochs": 3, "at_limit": False}, {"epochs": 3, "at_limit": True}], EPOCHS),
        ([{"epochs": None, "at_limit": True, "on_edges": ["c"]}], ITERATIONS + EDGE),
    ],
)
def test_one_fit_at_a_limit_marks_a_method(fits: list[dict[str, object]], marks: str) -> None:
    assert marks_of(fits) == marks


def test_every_table_marks_the_methods_whose_training_stopped_at_its_limit(results: Results) -> None:
    plain = {results.method_title(method) for method in results.outline.variants}
    limited, rows = stopped(results), 0
    for name, instance in tables(results).items():
        kind = make(TableKind, instance.kind, instance.parameters, name)
        if NOT_OF_FITS.issuperset(find(TableKind, instance.kind).needs):
            continue
        table = kind.table(limited)
        for row in table.rows:
            texts = [cell.value for cell in row.cells]
            if plain.intersection(texts) and "published" not in texts:
                assert any(cell.marks for cell in row.cells), (name, texts)
            rows += any(EPOCHS in f"{cell.value}{cell.marks}" for cell in row.cells)
        marked = any(EPOCHS in f"{cell.value}{cell.marks}" for row in table.rows for cell in row.cells)
        assert set(meanings([EPOCHS]) if marked else []) <= set(table.notes), name
    assert rows > len(plain)


def test_every_figure_marks_the_methods_whose_training_stopped_at_its_limit(results: Results) -> None:
    plain = {results.method_title(method) for method in results.outline.variants if not results.is_oracle(method)}
    limited, marked = stopped(results), 0
    for name, instance in figures(results).items():
        with style():
            figure = make(FigureKind, instance.kind, instance.parameters, name).figure(limited)
            explain_marks(figure)
        texts = {text.get_text() for text in figure.findobj(Text)}  # type: ignore[attr-defined]
        assert not (texts - {axis.get_title() for axis in figure.axes}) & plain, (
            name
        )  # a panel may be named as a method
        if any(EPOCHS in text for text in texts):
            marked += 1
            assert meanings([EPOCHS])[0] in " ".join(" ".join(texts).split()), name
    assert marked > 5


def test_epochs_and_seconds_to_converge_are_bounds_where_a_limit_stopped_a_training(results: Results) -> None:
    before = table_kind(results, "training-time").table(results)
    after = table_kind(results, "training-time").table(stopped(results, "vse_fs"))
    for key in ("epochs_to_convergence", "training_seconds"):
        for method, old, new in zip(values(after, "method"), column(before, key), column(after, key), strict=True):
            assert new == (Cell(old.value, bound="≥") if method == "vse_fs" else old)
    row = next(row for row in after.rows if "vse_fs" in [cell.value for cell in row.cells])
    texts = to_csv(replace(after, rows=[row])), to_markdown(replace(after, rows=[row])), to_latex(after, "tab:t")
    epochs = row.cells[[each.key for each in after.columns].index("epochs_to_convergence")].value
    for text, bound in zip(texts, (f"≥ {epochs}", f"≥ {epochs:g}", f"$\\geq$ {epochs:g}"), strict=True):
        assert bound in text


def test_the_csv_file_has_marks_in_words() -> None:
    table = Table(
        (Column("title", "Method"), Column("map", "MAP", "score")),
        (Row.of(f"WARP{EPOCHS}{EDGE}", 0.5), Row.of("EASE", Cell(0.4, marks=ITERATIONS)), Row.of("x", 0.1)),
        "Caption",
    )
    assert to_csv(table).splitlines() == [
        "title,map,marks",
        'WARP,0.5,"limit on epochs, edge of the grid"',
        "EASE,0.4,map: limit on iterations",
        "x,0.1,",
    ]
    assert to_csv(replace(table, rows=table.rows[2:])).splitlines() == ["title,map", "x,0.1"]
    assert len(table.notes) == 3
    assert replace(table, caption="Other").notes == table.notes


def test_latex_prints_every_mark() -> None:
    table = Table((Column("title", "Method"), Column("n", "N", "count")), (Row.of("".join(MARKS), 1),), "Caption")
    marked = Table((Column("n", "N", "count"),), (Row.of(Cell(1, marks=CASES)),), "Caption")
    source = to_latex(table, "tab:a") + to_latex(marked, "tab:b")
    assert not set(source) & set(MARKS)
    assert "1{\\rlap{$\\|$}}" in source


def test_the_table_of_settings_names_the_limit(results: Results) -> None:
    table = table_kind(results, "settings").table(stopped(results, "vse_fs"))
    epochs = [
        row.cells[4].value
        for row in table.rows
        if str(row.cells[0].value).startswith(f"{results.method_title('vse_fs')}‡")
    ]
    assert epochs
    assert all(str(each).endswith(" (limit 40)") for each in epochs)


def test_the_page_lists_the_fits_at_a_limit_in_one_line_per_kind_of_limit(results: Results) -> None:
    assert not list(fits_at_limits(results))
    task = Task(results.settings[0]["dataset"], results.settings[0]["protocol"])
    of_solver = {"at_limit": True, "epochs": None, "limit": 100}
    changes = {"vse_fs": STOPPED, "ease": of_solver}
    entries = [
        entry | changes.get(entry["method"], {})
        for entry in results.settings
        if (entry["dataset"], entry["seed"]) == (task.dataset, 2)
    ]
    where = f"({results.task_title(task)}; seeds 2; "
    assert list(fits_at_limits(changed(results, settings=entries))) == [
        f"Stopped by a limit on epochs; more epochs might change the results: VSE-fs {where}limit 40).",
        "Solvers that stopped before the minimum, at a limit on iterations or because of rounding: "
        f"EASE {where}after 100 iterations).",
    ]
