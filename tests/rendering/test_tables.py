"""Stage `table`: the numbers in the tables are those of the results."""

import csv
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from vsebench.rendering.names import PAPER_TABLES, figure_names, split_name, table_names
from vsebench.rendering.papers import paper_table

from vsebench.cli import main
from vsebench.core.storage import read_parquet, write_json
from vsebench.evaluation.convergence import to_best_epoch
from vsebench.evaluation.growth import exponents
from vsebench.rendering.results import Results
from vsebench.rendering.table import to_latex
from vsebench.rendering.tables import build_table

PAIRS = [("sim-iapr", "distinct"), ("saiapr", "regions")]
PUBLISHED = Path(__file__).parents[2] / "config" / "published"


@pytest.fixture
def results(results_folder: Path, titles: str) -> Results:
    return Results(results_folder, json.loads(titles))


def write(name: str, results_folder: Path, titles: str, out: Path) -> list[dict[str, str]]:
    command = ["table", name, "--results", str(results_folder), "--titles", titles, "--out", str(out / name)]
    assert main(command) == 0
    with (out / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_names() -> None:
    assert table_names(PAIRS) == [
        "datasets",
        "training-time",
        "audit",
        "audit-counts",
        "claims",
        "claims-summary",
        "accuracy-sim-iapr-distinct",
        "accuracy-saiapr-regions",
    ]
    names = figure_names(PAIRS)
    assert len(names) == len(set(names)) == 8
    assert split_name("convergence-sim-iapr-distinct", PAIRS, names) == ("convergence", PAIRS[0])
    assert split_name("training-time", PAIRS, names) == ("training-time", None)


def test_accuracy_has_the_numbers_of_the_summary(results_folder: Path, titles: str, tmp_path: Path) -> None:
    rows = write("accuracy-sim-iapr-distinct", results_folder, titles, tmp_path)
    summary = pl.read_parquet(results_folder / "summary.parquet").filter(pl.col("dataset") == "sim-iapr")
    assert [row["method"] for row in rows] == [*[m for m in json.loads(titles) if m != "oracle"], "oracle"]
    for row in rows:
        for metric, cutoff, key in (
            ("rec", 10, "rec_10"),
            ("pre", 5, "pre_5"),
            ("auc", None, "auc"),
            ("auc", 10, "auc_10"),
        ):
            expected = summary.filter(
                pl.col("method") == row["method"], pl.col("metric") == metric, pl.col("cutoff").eq_missing(cutoff)
            ).row(0, named=True)
            assert float(row[key]) == expected["value"]
            assert float(row[f"{key}_low"]) == expected["ci_low"]
            assert float(row[f"{key}_high"]) == expected["ci_high"]
            assert row[f"{key}_p_adjusted"] == ("" if expected["p_adjusted"] is None else repr(expected["p_adjusted"]))


def test_one_best_a_metric_and_the_ceiling_apart(results: Results) -> None:
    table = build_table(results, "accuracy-sim-iapr-distinct")
    for place, column in enumerate(table.columns):
        if column.interval:
            best = [row for row in table.rows if row.cells[place].bold]
            assert len(best) == 1
            assert not best[0].apart
    assert [row.apart for row in table.rows] == [False] * 8 + [True]
    assert "imulated" in table.caption
    assert "The data is simulated." in table.notes


def test_a_dagger_marks_what_is_not_significantly_worse(results: Results) -> None:
    table = build_table(results, "accuracy-saiapr-regions")
    place = {column.key: number for number, column in enumerate(table.columns)}
    for row in table.rows:
        p = row.cells[place["rec_10_p_adjusted"]].value
        assert row.cells[place["rec_10"]].dagger == (isinstance(p, float) and p >= 0.05)


def test_training_time_is_the_median_over_repeats(results_folder: Path, titles: str, tmp_path: Path) -> None:
    rows = write("training-time", results_folder, titles, tmp_path)
    row = next(r for r in rows if (r["dataset"], r["method"]) == ("sim-iapr", "warp"))
    timing = pl.read_parquet(results_folder / "timing.parquet").filter(
        pl.col("dataset") == "sim-iapr", pl.col("method") == "warp", pl.col("phase") == "epoch"
    )
    repeats = timing.group_by("repeat").agg(pl.col("seconds").median())["seconds"]
    assert float(row["epoch_seconds"]) == repeats.median()
    assert float(row["epoch_seconds_low"]) == repeats.min()
    assert float(row["epoch_seconds_high"]) == repeats.max()
    assert "Simulated IAPR" in (tmp_path / "training-time.tex").read_text(encoding="utf-8")


def test_convergence_is_the_epoch_of_the_best_validation_metric() -> None:
    history = pl.DataFrame(
        {
            "phase": ["selection"] * 5 + ["refit"],
            "seed": [0, 0, 0, 1, 1, 0],
            "epoch": [1, 2, 3, 1, 2, 1],
            "seconds": [1.0, 2.0, 4.0, 8.0, 16.0, 99.0],
            "validation": [0.1, 0.3, 0.2, None, 0.5, None],
        }
    )
    assert to_best_epoch(history).rows() == [(0, 2, 3.0), (1, 2, 24.0)]
    assert to_best_epoch(history.filter(pl.col("phase") == "refit")).is_empty()


def test_an_untimed_history_is_no_mistake(results_folder: Path, titles: str, tmp_path: Path) -> None:
    folder = copy(results_folder, tmp_path)
    pl.read_parquet(folder / "history.parquet").clear().write_parquet(folder / "history.parquet")
    rows = write("training-time", folder, titles, tmp_path)
    assert {row["epochs_to_convergence"] for row in rows} == {""}


def test_datasets(results_folder: Path, titles: str, tmp_path: Path) -> None:
    rows = write("datasets", results_folder, titles, tmp_path)
    assert [(row["name"], row["data"]) for row in rows] == [("sim-iapr", "simulated"), ("saiapr", "real")]
    assert rows[0]["labels_per_image_mean"] == "4.12445"


def test_every_latex_table_is_well_formed(results: Results, check_latex: Callable[[str], None]) -> None:
    for name in table_names(PAIRS):
        check_latex(to_latex(build_table(results, name)))
    for name in PAPER_TABLES:
        check_latex(to_latex(paper_table(name, PUBLISHED, results)))


def has_latex() -> bool:
    """Tell whether this machine has LaTeX with the packages that the tables need."""
    find = shutil.which("kpsewhich")
    return find is not None and all(
        subprocess.run([find, f"{package}.sty"], capture_output=True, check=False).returncode == 0
        for package in ("booktabs", "siunitx")
    )


@pytest.mark.skipif(not has_latex(), reason="no LaTeX with booktabs and siunitx on this machine")
@pytest.mark.parametrize("intervals", ["", "\\newcommand{\\vseintervals}[2]{#2}\n"])
def test_every_latex_table_compiles_within_the_width_of_a_page(
    intervals: str, results: Results, tmp_path: Path
) -> None:
    scaling = exponents(read_parquet(results.folder / "scaling.parquet"))
    tables = [build_table(results, name) for name in table_names(PAIRS)]
    tables += [paper_table(name, PUBLISHED, results, scaling) for name in PAPER_TABLES]
    nasty = replace(tables[0], caption=r"a\b{c}d~e^f$g#h_i%j&k<l>", label="tab:nasty")
    body = "\n".join(to_latex(table) for table in [*tables, nasty])
    packages = "\\usepackage{booktabs}\n\\usepackage{siunitx}\n"
    # A page at a time: LaTeX holds but a few floats.
    body = body.replace("\\end{table}\n", "\\end{table}\n\\clearpage\n")
    document = f"\\documentclass{{article}}\n{packages}{intervals}\\begin{{document}}\n{body}\\end{{document}}\n"
    (tmp_path / "page.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert "too large" not in done.stdout


def copy(folder: Path, to: Path) -> Path:
    copied = to / "results"
    copied.mkdir()
    for path in folder.iterdir():
        if path.is_file():
            (copied / path.name).write_bytes(path.read_bytes())
    return copied


def lines_of_failure(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(command) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    return message


@pytest.mark.parametrize("stage", ["table", "figure"])
def test_an_unknown_name_lists_the_known_ones(
    stage: str, results_folder: Path, titles: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [stage, "acuracy", "--results", str(results_folder), "--titles", titles, "--out", str(tmp_path / "x")]
    assert "'acuracy'" in (message := lines_of_failure(command, capsys))
    assert "accuracy-sim-iapr-distinct" in message


def test_missing_and_empty_results_are_told_in_one_line(
    results_folder: Path, titles: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy(results_folder, tmp_path)
    common = ["--results", str(folder), "--out", str(tmp_path / "x")]
    pl.read_parquet(folder / "timing.parquet").clear().write_parquet(folder / "timing.parquet")
    assert "timing.parquet: has no rows" in lines_of_failure(["table", "training-time", *common], capsys)
    (folder / "summary.parquet").unlink()
    assert "summary.parquet: no such file" in lines_of_failure(["table", "accuracy-saiapr-regions", *common], capsys)
    write_json([], folder / "datasets.json")
    assert "datasets.json" in lines_of_failure(["table", "datasets", *common], capsys)
    assert "--titles" in lines_of_failure(["table", "datasets", *common, "--titles", "{"], capsys)
    assert "--titles" in lines_of_failure(["table", "datasets", *common, "--titles", '{"a": 1}'], capsys)
    assert not list(tmp_path.glob("x*"))
