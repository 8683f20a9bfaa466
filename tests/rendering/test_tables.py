"""The numbers in the tables are those of the results."""

import csv
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from tests.rendering.conftest import SMALL, changed, column, table_kind, tables, values
from tests.rendering.latex import check_latex
from vsebench.cli import main
from vsebench.core.storage import write_json, write_parquet
from vsebench.core.tasks import Task
from vsebench.rendering.choices import remark_on_other_splits
from vsebench.rendering.kinds import TableKind, instances_of_run
from vsebench.rendering.outline import LeftOut, MetricLeftOut
from vsebench.rendering.page.page import notices
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Table
from vsebench.rendering.tables.accuracy import notes
from vsebench.rendering.writers.latex import to_latex

SIMULATED, REAL = SMALL


def command(results: Results, name: str, out: Path) -> list[str]:
    table = tables(results)[name]
    parameters = json.dumps(dict(table.parameters))
    options = {"--kind": table.kind, "--parameters": parameters, "--results": results.folder, "--out": out / name}
    return ["stage", "table", name, *(str(word) for option in options.items() for word in option)]


def written(results: Results, name: str, out: Path) -> list[dict[str, str]]:
    """Run the stage and return the rows of the CSV file."""
    assert main(command(results, name, out)) == 0
    with (out / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_accuracy_has_the_numbers_of_the_summary(results: Results, tmp_path: Path) -> None:
    rows = written(results, "accuracy-sim-iapr-distinct", tmp_path)
    summary = results.summary.filter(dataset="sim-iapr")
    assert [row["method"] for row in rows] == [*(m for m in results.outline.variants if m != "oracle"), "oracle"]
    for row in rows:
        for metric in results.outline.metrics:
            key = metric.replace("@", "_")
            expected = summary.filter(method=row["method"], metric=metric).row(0, named=True)
            assert float(row[key]) == expected["value"]
            assert float(row[f"{key}_low"]) == expected["ci_low"]
            assert float(row[f"{key}_high"]) == expected["ci_high"]
            assert row[f"{key}_p_adjusted"] == ("" if expected["p_adjusted"] is None else repr(expected["p_adjusted"]))


def test_accuracy_shows_the_metrics_of_the_run_in_their_order(results: Results) -> None:
    outline = results.outline.model_copy(update={"metrics": ["mrr", "recall@10"]})
    table = table_kind(results, "accuracy-sim-iapr-distinct").table(changed(results, outline=outline))
    assert [column.title for column in table.columns if column.interval] == ["MRR", "Recall@10"]


def test_metrics_of_labels_come_with_their_level_of_chance(results: Results) -> None:
    notes = []
    for metrics in (["mrr"], ["mrr", "label_map"]):
        outline = results.outline.model_copy(update={"metrics": metrics})
        table = table_kind(results, "accuracy-sim-iapr-distinct").table(changed(results, outline=outline))
        notes.append([note for note in table.notes if "level of chance" in note])
    assert notes[0] == []
    (note,) = notes[1]
    assert "popularity, is below random" in note


def test_one_best_per_metric_and_the_oracle_apart(results: Results) -> None:
    table = table_kind(results, "accuracy-sim-iapr-distinct").table(results)
    for shown in table.columns:
        if shown.interval:
            (best,) = (row for row, cell in zip(table.rows, column(table, shown.key), strict=True) if cell.bold)
            assert not best.apart
    assert [row.apart for row in table.rows] == [False] * 9 + [True]
    assert table.rows[-1].cells[3].value == "Oracle (ceiling)"
    assert "imulated" in table.caption
    assert "The data are simulated." in table.notes


def test_a_variant_that_is_left_out_is_named_with_the_reason(results: Results) -> None:
    table = table_kind(results, "accuracy-saiapr-regions").table(results)
    assert not any(row.apart for row in table.rows)
    assert table.notes[-1] == "Left out: Oracle (ceiling) (it needs simulated data)."


def test_a_dagger_marks_what_is_not_significantly_worse(results: Results) -> None:
    p_values = {"ease": 0.0499, "opt_auc": 0.05, "warp": 0.9}
    adjusted = pl.col("method").replace_strict(p_values, default=0.001, return_dtype=pl.Float64)
    other = changed(results, summary=results.summary.with_columns(p_adjusted=adjusted))
    table = table_kind(results, "accuracy-saiapr-regions").table(other)
    marked = zip(values(table, "method"), column(table, "recall_10"), strict=True)
    assert {method for method, cell in marked if cell.dagger} == {"opt_auc", "warp"}


def test_training_time_is_the_median_over_repeats(results: Results, tmp_path: Path) -> None:
    rows = written(results, "training-time", tmp_path)
    row = next(r for r in rows if (r["dataset"], r["method"]) == ("sim-iapr", "warp"))
    timing = results.timing.filter(dataset="sim-iapr", method="warp", phase="epoch")
    repeats = timing.group_by("repeat").agg(pl.col("seconds").median())["seconds"]
    assert float(row["epoch_seconds"]) == repeats.median()
    assert float(row["epoch_seconds_low"]) == repeats.min()
    assert float(row["epoch_seconds_high"]) == repeats.max()
    assert "Simulated IAPR" in (tmp_path / "training-time.tex").read_text(encoding="utf-8")


def test_a_method_without_epochs_has_the_time_of_its_fit(results: Results) -> None:
    first = results.timing.filter(method="warp", phase="epoch").head(1)
    fits = [first.with_columns(phase=pl.lit("fit"), method=pl.lit("jec"), seconds=s) for s in (3.0, 9.0, 5.0)]
    outline, history = results.outline, results.history.clear()
    outline = outline.model_copy(update={"variants": outline.variants | {"jec": outline.variants["ease"]}})
    table = table_kind(results, "training-time").table(
        changed(results, outline=outline, history=history, timing=pl.concat(fits))
    )
    assert column(table, "training_seconds") == [Cell(5.0, 3.0, 9.0)]
    assert values(table, "epochs_to_convergence") == [None]


def test_the_time_of_a_command_has_a_column_of_its_own(results: Results) -> None:
    kind = table_kind(results, "training-time")
    before = kind.table(results)
    first = results.timing.filter(method="warp", phase="epoch").head(1)
    runs = [first.with_columns(phase=pl.lit("command"), method=pl.lit("vse_fs"), seconds=s) for s in (3.0, 9.0, 5.0)]
    table = kind.table(changed(results, timing=pl.concat([results.timing, *runs])))
    assert "command_seconds" not in {column.key for column in before.columns}
    (cell,) = [row.cells[-1] for row in table.rows if row.cells[-1].value is not None]
    assert (cell.value, cell.low, cell.high) == (5.0, 3.0, 9.0)
    assert [row.cells[:-1] for row in table.rows] == [row.cells for row in before.rows]
    assert len(table.notes) == len(before.notes) + 1


def test_a_run_without_epochs_has_empty_times(results: Results) -> None:
    kind, history = table_kind(results, "training-time"), results.history.clear()
    table = kind.table(changed(results, history=history))
    assert set(values(table, "epochs_to_convergence")) == {None}
    assert not kind.table(changed(results, history=history, timing=results.timing.clear())).rows


def test_datasets(results: Results, tmp_path: Path) -> None:
    rows = written(results, "datasets", tmp_path)
    assert [(row["name"], row["data"]) for row in rows] == [("sim-iapr", "simulated"), ("saiapr", "real")]
    assert rows[0]["labels_per_image_mean"] == "4.12445"


def test_the_coverage_by_words_has_a_row_per_data_set_that_has_some(results: Results, tmp_path: Path) -> None:
    (row,) = written(results, "word-vectors", tmp_path)
    assert (row["name"], row["source"], row["dimensions"]) == ("saiapr", "made-up", "300")
    found = [int(row[key]) for key in ("whole", "alias", "parts", "some_parts", "singular", "missing")]
    assert found == [183, 1, 37, 13, 2, 19]
    assert sum(found) == int(row["labels"])
    assert (row["sharing"], row["rank"]) == ("3", "230")


def test_the_best_method_has_its_numbers(results: Results, tmp_path: Path) -> None:
    rows = [row for row in written(results, "best", tmp_path) if row["method"] != "Oracle (ceiling)"]
    summary = results.summary.filter(metric="recall@10", best=True)
    assert [float(row["recall_10"]) for row in rows] == [
        summary.filter(dataset=task.dataset)["value"].item() for task in SMALL
    ]


def test_an_oracle_stands_below_the_best_method_with_its_intervals(results: Results, tmp_path: Path) -> None:
    rows = written(results, "best", tmp_path)
    (oracle,) = (row for row in rows if row["method"] == "Oracle (ceiling)")
    assert rows.index(oracle) == 1  # the second task has no oracle
    expected = results.accuracy(SIMULATED).filter(method="oracle", metric="recall@10").row(0, named=True)
    assert (oracle["title"], oracle["n_equal"]) == ("Simulated IAPR TC-12", "")
    for key, name in {"recall_10": "value", "recall_10_low": "ci_low", "recall_10_high": "ci_high"}.items():
        assert float(oracle[key]) == expected[name]


def test_equal_methods_are_counted_in_the_table_of_best_methods_and_named_in_its_csv_only(results: Results) -> None:
    p_values = {"ease": 0.9, "opt_auc": 0.9, "warp": 0.05, "popularity": 0.049}
    equal = pl.col("method").replace_strict(p_values, default=0.001, return_dtype=pl.Float64)
    adjusted = pl.when(pl.col("dataset") == SIMULATED.dataset).then(equal).otherwise(0.001)
    table = table_kind(results, "best").table(
        changed(results, summary=results.summary.with_columns(p_adjusted=adjusted))
    )
    assert values(table, "n_equal") == ["3 methods", None, "none"]  # the oracle's cell is empty
    assert values(table, "equal") == ["EASE, Opt-AUC, WARP", None, None]
    assert "equal" not in {table.columns[index].key for index in table.shown}


def test_the_dagger_in_the_table_of_best_methods_is_explained_in_every_form(results: Results, tmp_path: Path) -> None:
    written(results, "best", tmp_path)
    for suffix, mark in {"md": "†", "tex": "$\\dagger$"}.items():
        text = (tmp_path / f"best.{suffix}").read_text(encoding="utf-8")
        assert f"{mark}: it is not significantly different from the best in this metric" in text


def test_the_table_of_best_methods_names_protocols_only_if_there_are_several(results: Results) -> None:
    one = results.outline.model_copy(update={"tasks": [REAL]})
    headings = [
        table_kind(results, "best").table(run).groups[-1][0] for run in (results, changed(results, outline=one))
    ]
    assert headings == ["SAIAPR TC-12 (region labels), protocol regions", "SAIAPR TC-12 (region labels)"]


def test_seeds_with_the_same_settings_share_a_row(results: Results, tmp_path: Path) -> None:
    rows = written(results, "settings", tmp_path)
    assert {row["seeds"] for row in rows} == {"1, 2, 3"}
    tuned = next(row for row in rows if row["method"] == "VSE-fs")
    assert tuned["chosen"] == "searched (12 configurations, 3 seeds)"
    assert tuned["epochs"] == "21, 22, 23"


def test_settings_are_words_of_readers_without_the_empty_ones(results: Results) -> None:
    first = next(entry for entry in results.settings if entry["method"] == "vse_fs")
    tuned = {"settings": {"normalise": ["root", "l2"], "stop_lists": [], "sets": None, "exact": False, "decay": 0}}
    ensemble = {"method": "warp", "choice": "weights", "settings": {"ease": 0.25, "missing": 0.75}}
    table = table_kind(results, "settings").table(changed(results, settings=[first | tuned, first | ensemble]))
    found = dict(zip(values(table, "method"), values(table, "settings"), strict=True))
    assert found == {"VSE-fs": "normalise root, l2; exact false; decay 0", "WARP": "EASE 0.25; missing 0.75"}
    assert values(table, "validation") == ["NDCG@10: 0.2512"] * 2


def all_tables(results: Results) -> Iterator[tuple[str, Table]]:
    return ((name, table_kind(results, name).table(results)) for name in tables(results))


def test_every_latex_table_is_well_formed(results: Results) -> None:
    for name, table in all_tables(results):
        check_latex(to_latex(table, f"tab:{name}"))


def has_latex() -> bool:
    """Return whether this machine has LaTeX with the packages that the tables need."""
    search = shutil.which("kpsewhich")
    return search is not None and all(
        subprocess.run([search, f"{package}.sty"], capture_output=True, check=False).returncode == 0
        for package in ("booktabs", "siunitx")
    )


@pytest.mark.skipif(not has_latex(), reason="no LaTeX with booktabs and siunitx on this machine")
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
@pytest.mark.parametrize(
    "intervals", ["", pytest.param("\\newcommand{\\vseintervals}[2]{#2}\n", marks=pytest.mark.long, id="none")]
)
def test_every_latex_table_compiles_within_the_width_of_its_columns(
    intervals: str, columns: str, results: Results, tmp_path: Path
) -> None:
    made = dict(all_tables(results))
    made["nasty"] = replace(made["datasets"], caption=r"a\b{c}d~e^f$g#h_i%j&k<l>")
    body = "\n".join(to_latex(table, f"tab:{name.replace('_', '-')}") for name, table in made.items())
    packages = "\\usepackage{booktabs}\n\\usepackage{siunitx}\n"
    # A page at a time: LaTeX holds but a few floats.
    body = re.sub(r"(\\end\{table\*?\}\n)", r"\1\\clearpage\n", body)
    document = (
        f"\\documentclass[{columns}]{{article}}\n{packages}{intervals}\\begin{{document}}\n{body}\\end{{document}}\n"
    )
    (tmp_path / "page.tex").write_text(document, encoding="utf-8")
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "page.tex"]
    done = subprocess.run(latex, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert "too large" not in done.stdout


def test_one_table_has_every_method_on_every_data_set(results: Results, tmp_path: Path) -> None:
    rows = written(results, "methods-by-tasks", tmp_path)
    headline = results.summary.filter(metric="recall@10", decision="")
    for row in rows:
        for task in SMALL:
            values = headline.filter(method=row["method"], dataset=task.dataset)["value"].to_list()
            assert row[f"{task.dataset}_{task.protocol}"] == (str(values[0]) if values else "")
    assert [row["method"] for row in rows] == [*results.competitors_of(headline), "oracle"]
    source = (tmp_path / "methods-by-tasks.tex").read_text(encoding="utf-8")
    assert len(re.findall(r"\\begin\{table\*?\}", source)) == 1
    bold = {line.split(" & ")[0] for line in source.splitlines() if "\\bfseries" in line}
    assert bold == {results.method_title(name) for name in headline.filter("best")["method"]}


def test_a_table_that_leaves_out_intervals_in_latex_says_so_there_only(results: Results, tmp_path: Path) -> None:
    written(results, "methods-by-tasks", tmp_path)
    page, source = ((tmp_path / f"methods-by-tasks.{suffix}").read_text(encoding="utf-8") for suffix in ("md", "tex"))
    left_out = "The intervals are left out here; the CSV file contains them."
    assert "Mean over 3 seeds, with 95 % intervals over images and seeds." in page
    assert (left_out in page, left_out in source) == (False, True)
    assert left_out not in to_latex(table_kind(results, "best").table(results), "tab:best")  # which has them


def test_the_table_of_all_methods_says_that_the_test_is_paired(results: Results) -> None:
    said = " ".join(table_kind(results, "methods-by-tasks").table(results).notes)
    assert "The test is paired: it compares a method with the best one on the same images." in said
    assert "a method can have a † although its mean is lower than that of a method without a †." in said


def copy(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to / "results"))


def line_of_failure(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    return message


def test_missing_and_empty_results_are_one_line(
    results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Results(copy(results.folder, tmp_path))
    write_parquet(results.summary.clear(), folder.folder / "summary.parquet")
    accuracy = command(folder, "accuracy-saiapr-regions", tmp_path)
    assert "summary.parquet: has no rows" in line_of_failure(accuracy, capsys)
    (folder.folder / "summary.parquet").unlink()
    assert "summary.parquet: no such file" in line_of_failure(accuracy, capsys)
    datasets = command(folder, "datasets", tmp_path)
    write_json([], folder.folder / "datasets.json")
    assert "datasets.json: must be a JSON list with entries" in line_of_failure(datasets, capsys)
    training_time = command(folder, "training-time", tmp_path)
    write_json({}, folder.folder / "outline.json")
    assert "outline.json: is not a readable outline" in line_of_failure(training_time, capsys)
    assert not list(tmp_path.glob("*.csv"))


def test_a_metric_that_is_left_out_is_named_with_the_reason(results: Results) -> None:
    task = results.outline.tasks[0]
    keys = {"dataset": task.dataset, "protocol": task.protocol}
    missing = MetricLeftOut(**keys, metric="sibling_precision@10", reason="no siblings")
    outline = results.outline.model_copy(update={"metrics_left_out": [missing]})
    other = changed(results, outline=outline)
    accuracy, metrics = results.accuracy(task), results.outline.metrics
    assert notes(other, task, accuracy, metrics)[-1] == "Left out: Sibling precision@10 (no siblings)."


def test_methods_that_are_left_out_for_the_same_reason_share_a_note(results: Results) -> None:
    task = results.outline.tasks[0]
    left_out = [
        LeftOut(dataset=task.dataset, protocol=task.protocol, method=method, reason=reason)
        for method, reason in (("ease", "no features"), ("warp", "no truth"), ("vse_fs", "no features"))
    ]
    other = changed(results, outline=results.outline.model_copy(update={"left_out": left_out}))
    assert notes(other, task, results.accuracy(task), results.outline.metrics)[-2:] == [
        "Left out: EASE, VSE-fs (no features).",
        "Left out: WARP (no truth).",
    ]
    latex = to_latex(replace(table_kind(results, "datasets").table(results), notes=("One", "Two.", "Three")), "tab:x")
    assert "One. Two. Three." in latex


def test_what_does_not_beat_random_is_said(results: Results) -> None:
    task = results.outline.tasks[0]
    hopeless = pl.when(pl.col("method") == "random", pl.col("metric") == "mrr").then(0.3).otherwise("p_adjusted")
    other = changed(results, summary=results.summary.with_columns(p_adjusted=hopeless))
    said = notes(other, task, other.accuracy(task), results.outline.metrics)
    assert "No method is significantly better than Random in MRR; there, bold marks the maximum." in said
    assert not any("beat Random" in line for line in notes(results, task, results.accuracy(task), ["mrr"]))


def test_the_best_method_is_named_only_if_it_beats_random(results: Results) -> None:
    hopeless = pl.when(pl.col("method") == "random").then(0.3).otherwise("p_adjusted")
    other = changed(results, summary=results.summary.with_columns(p_adjusted=hopeless))
    table = table_kind(results, "best").table(other)
    best = [row.cells for row in table.rows if not row.apart]
    assert [cells[2].value for cells in best] == ["none significantly better than Random"] * 2
    assert [cells[3].value for cells in best] == [None, None]


def test_how_settings_were_chosen_is_stated_for_every_method_below_the_table(results: Results) -> None:
    task = results.outline.tasks[0]
    accuracy = results.accuracy(task)
    files = "those in the methods' files, which were not chosen for these data"
    said = {line.partition(": ")[0]: line for line in notes(results, task, accuracy, ["mrr"]) if "Settings" in line}
    untuned = said.pop(f"Settings untuned ({files})")
    assert "WARP" in untuned
    assert "VSE-fs," not in untuned  # it was searched
    assert [re.sub(r"\d+", "n", start) for start in said] == ["Settings searched (n configurations, n seeds)"]
    assert "VSE-fs" in "".join(said.values())
    searched = changed(results, settings=[entry | {"choice": "tuned"} for entry in results.settings])
    assert not any("untuned" in line for line in notes(searched, task, accuracy, ["mrr"]))


def test_settings_from_another_split_are_named_below_the_table(results: Results) -> None:
    task = next(task for task in results.outline.tasks if task.protocol == "distinct")

    def said(searched: list[int], protocol: str = "distinct") -> list[str]:
        record = {"protocol": protocol, "choice": "recorded", "seeds_of_search": searched}
        settings = [entry | record for entry in results.settings if entry["method"] == "warp"]
        other = changed(results, settings=settings)
        return remark_on_other_splits(other, Task(task.dataset, protocol), ["warp", "vse_fs"])

    seeds = sorted({entry["seed"] for entry in results.settings})
    (line,) = said(seeds[:1])
    assert line.startswith(
        f"For {'seeds' if len(seeds) > 2 else 'seed'} {', '.join(map(str, seeds[1:]))}, settings of "
    )
    assert line.endswith(": WARP.")
    assert said(seeds) == []
    assert said(seeds[:1], protocol="official") == []  # one split for all seeds
    recorded = [entry | {"choice": "recorded", "seeds_of_search": seeds[:1]} for entry in results.settings]
    lines = notes(changed(results, settings=recorded), task, results.accuracy(task), ["mrr"])
    assert any("another seed's split" in line for line in lines)


def test_who_tuned_a_model_trained_elsewhere_is_said_where_the_model_is_shown(results: Results) -> None:
    best, other = results.summary.filter(metric="recall@10", best=True)["method"][0], "popularity"
    outside = {"role": "external", "tuned": "by its author"}
    variants = results.outline.variants
    changes = {name: variants[name].model_copy(update=outside) for name in (best, other)}
    changes[other] = changes[other].model_copy(update={"by_command": True})
    seen = changed(results, outline=results.outline.model_copy(update={"variants": variants | changes}))
    said = {
        best: f"{variants[best].title} was trained elsewhere; how its settings were chosen: by its author.",
        other: f"{variants[other].title} was trained by its own command; how its settings were chosen: by its author.",
    }
    for name in ("methods-by-tasks", "accuracy-sim-iapr-distinct"):
        assert set(said.values()) <= set(table_kind(seen, name).table(seen).notes)
    notes_of_best = table_kind(seen, "best").table(seen).notes
    assert said[best] in notes_of_best
    assert said[other] not in notes_of_best  # this table does not name the method
    settings = table_kind(seen, "settings").table(seen)
    chosen = dict(zip(values(settings, "method"), values(settings, "chosen"), strict=True))
    assert chosen[variants[other].title] == "settings: by its author"


def test_a_table_of_few_metrics_stays_whole(results: Results) -> None:
    table = table_kind(results, "accuracy-few-saiapr-regions").table(results)
    assert [column.title for column in table.columns if column.interval] == ["Recall@10", "MAP@10", "NDCG@10", "AUC"]
    assert to_latex(table, "tab:x").count("\\begin{tabular}") == 1
    few = results.outline.model_copy(update={"metrics": ["recall@10", "map@10"]})
    assert "accuracy-few-saiapr-regions" not in instances_of_run(TableKind, few)


def test_many_metrics_are_split_before_methods(results: Results) -> None:
    table = replace(table_kind(results, "accuracy-saiapr-regions").table(results), fold=2)
    floats = to_latex(table, "tab:x").split("\\begin{table*}")[1:]
    assert len(floats) > 1
    assert all("Random" in part and "(published settings)" in part for part in floats)


def test_with_one_seed_the_intervals_are_said_to_be_over_images(results: Results) -> None:
    one = results.accuracy(REAL).with_columns(n_seeds=pl.lit(1))
    metrics = results.outline.metrics
    said = notes(results, REAL, one, metrics)
    assert said[0].startswith("One seed, with 95 % intervals over images;")
    assert not any("images and seeds" in line for line in said)
    assert "3 seeds" in notes(results, REAL, results.accuracy(REAL), metrics)[0]


@pytest.mark.parametrize(("occurrences", "mentioned"), [(82489, True), (99527, False)])
def test_regions_of_labels_without_repetition_are_said_to_be_distinct_labels(
    occurrences: int, mentioned: bool, results: Results
) -> None:
    entry = results.datasets["saiapr"]
    counts = entry["counts"] | {"pairs": 82489, "occurrences": occurrences}
    other = changed(results, datasets=results.datasets | {"saiapr": entry | {"counts": counts}})
    below = notes(other, REAL, results.accuracy(REAL), results.outline.metrics)
    below = [line for line in below if "o image has a label twice" in line]
    above = [line for line in notices(other) if "o image has a label twice" in line]
    assert (len(below), len(above)) == (mentioned, mentioned)
    if mentioned:
        assert below[0].startswith("No image ")
        assert above[0].startswith("SAIAPR TC-12 (region labels), protocol regions: no image ")
