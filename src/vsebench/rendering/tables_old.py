"""Stage `table`: write a table as CSV, Markdown and LaTeX."""

import argparse
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from vsebench.core.places import CEILING
from vsebench.core.storage import replacing
from vsebench.evaluation.convergence import to_best_epoch
from vsebench.papers.audit.findings import CONTRADICTS
from vsebench.rendering.audit import counts_table, findings_table
from vsebench.rendering.claims import claims_table, read_claims, summary_table
from vsebench.rendering.names import Pair, split_name, table_names
from vsebench.rendering.results import (
    Metric,
    Results,
    add_common_arguments,
    metric_title,
    near_best,
    of_pair,
    open_results,
    pick,
)
from vsebench.rendering.table import Cell, Column, Row, Table, to_csv, to_latex, to_markdown

METRICS: tuple[Metric, ...] = (
    ("pre", 5), ("rec", 5), ("pre", 10), ("rec", 10), ("map", 10),
    ("ndcg", 10), ("auc", 10), ("mrr", None), ("auc", None),
)  # fmt: skip
WRITERS = {"csv": to_csv, "md": to_markdown, "tex": to_latex}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("name", help="datasets, training-time, audit, claims, ..., accuracy-<dataset>-<protocol>")
    add_common_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, help="file to write, without .csv, .md, .tex")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    write_table(build_table(open_results(arguments), arguments.name), arguments.out)


def write_table(table: Table, out: Path) -> None:
    """Write `out`.csv, `out`.md and `out`.tex."""
    for suffix, writer in WRITERS.items():
        with replacing(out.with_name(f"{out.name}.{suffix}")) as temporary:
            temporary.write_text(writer(table), encoding="utf-8")


def build_table(results: Results, name: str) -> Table:
    """Return the table of this name (see `table_names`)."""
    if name == "datasets":
        return datasets_table(results)
    if name == "training-time":
        return training_time_table(results)
    if name == "audit":
        return findings_table(results.audit, CONTRADICTS)
    if name == "audit-counts":
        return counts_table(results.audit)
    if name == "claims":
        return claims_table(read_claims(results.folder / "claims.csv"), results)
    if name == "claims-summary":
        return summary_table(read_claims(results.folder / "claims.csv"))
    _, pair = split_name(name, results.pairs, table_names(results.pairs))
    assert pair is not None
    return accuracy_table(results, pair)


def datasets_table(results: Results) -> Table:
    """Return the statistics of each data set."""
    columns = (
        Column("name", "Name", shown=False),
        Column("title", "Data set"),
        Column("data", "Data", shown=False),
        Column("images", "Images", "count"),
        Column("images_without_label", "Images\nwithout label", "count"),
        Column("vocabulary", "Vocabulary", "count"),
        Column("labels", "Labels\nin use", "count"),
        Column("pairs", "Pairs", "count"),
        Column("occurrences", "Occurrences", "count"),
        Column("labels_per_image_mean", "Labels an\nimage (mean)", "mean"),
        Column("labels_per_image_median", "(median)", "count"),
        Column("labels_per_image_max", "(max.)", "count"),
    )
    rows = []
    for name, entry in results.datasets.items():
        texts = [name, results.dataset_title(name), "simulated" if results.is_simulated(name) else "real"]
        counts = flat_counts(entry["counts"])
        numbers = [Cell(counts.get(column.key)) for column in columns[len(texts) :]]
        rows.append(Row((*map(Cell, texts), *numbers)))
    return Table(
        columns,
        tuple(rows),
        caption="Statistics of the data sets",
        label="tab:datasets",
        notes=(
            "Pairs are distinct (image, label) pairs; occurrences count a label as often as it is on an image.",
            "Labels an image: mean, median and maximum of distinct labels over all images.",
        ),
        fold=5,
    )


def flat_counts(counts: dict[str, Any]) -> dict[str, Any]:
    """Return the counts with nested ones under joined names.

    >>> flat_counts({"images": 3, "labels_per_image": {"mean": 1.5}})
    {'images': 3, 'labels_per_image_mean': 1.5}
    """
    flat: dict[str, Any] = {}
    for key, value in counts.items():
        flat |= {f"{key}_{part}": v for part, v in value.items()} if isinstance(value, dict) else {key: value}
    return flat


def accuracy_table(results: Results, pair: Pair) -> Table:
    """Return methods x metrics of one data set and protocol."""
    accuracy = results.accuracy(pair)
    dataset, protocol = pair
    columns = [Column("dataset", "Data set", shown=False), Column("protocol", "Protocol", shown=False)]
    columns += [Column("method", "Name", shown=False), Column("title", "Method")]
    for metric in METRICS:
        key = "_".join(str(part) for part in metric if part is not None)
        narrow = metric[0] == "pre"  # with one held-out label it is Rec@N / N, and so is its interval
        columns.append(Column(key, metric_title(metric), "score", interval=True, narrow=narrow))
        columns.append(Column(f"{key}_p_adjusted", "p", "score", shown=False))
    methods = results.methods_of(accuracy)
    rows = []
    for method in sorted(methods, key=lambda name: name == CEILING):  # the ceiling last
        ceiling = method == CEILING
        title = results.method_title(method) + (" (ceiling)" if ceiling else "")
        cells = [Cell(text) for text in (dataset, protocol, method, title)]
        for metric in METRICS:
            cells += accuracy_cells(pick(accuracy, metric, method))
        rows.append(Row(tuple(cells), apart=ceiling))
    return Table(
        tuple(columns),
        tuple(rows),
        caption=f"Accuracy on {results.dataset_title(dataset)}, protocol {protocol}",
        label=f"tab:accuracy-{dataset}-{protocol}",
        notes=accuracy_notes(results, pair, accuracy),
        fold=5,
    )


def accuracy_cells(row: dict[str, Any] | None) -> list[Cell]:
    """Return the cells of one metric: the mean with its interval, and the p-value."""
    if row is None:
        return [Cell(), Cell()]
    best = bool(row["best"]) and row["method"] != CEILING
    value = Cell(row["value"], row["ci_low"], row["ci_high"], bold=best, dagger=near_best(row))
    return [value, Cell(row["p_adjusted"])]


def accuracy_notes(results: Results, pair: Pair, accuracy: pl.DataFrame) -> tuple[str, ...]:
    """Say what is measured."""
    seeds = max(accuracy["n_seeds"].to_list())
    notes = [
        f"Mean over {seeds} {'seed' if seeds == 1 else 'seeds'} with bootstrap 95 % intervals over images and seeds.",
        "Bold: best; †: not significantly different from the best (paired bootstrap test, Holm-corrected p ≥ 0.05).",
        "The labels of an image that a method was trained on are no candidates, and ties count against the method.",
        "Metrics with @N are cut off at N (AUC@10: a label that is not among the first 10 counts 0.5); "
        "MRR and AUC are over the full ranking.",
    ]
    if results.is_simulated(pair[0]):
        notes.insert(0, "The data is simulated.")
    if CEILING in accuracy["method"]:
        ceiling = results.method_title(CEILING)
        notes.append(f"{ceiling} knows the truth that the data was drawn from: a ceiling, not a competitor.")
    return tuple(notes)


def training_time_table(results: Results) -> Table:
    """Return the time and memory that training takes."""
    columns = (
        Column("dataset", "Data set", shown=False),
        Column("protocol", "Protocol", shown=False),
        Column("method", "Name", shown=False),
        Column("title", "Method"),
        Column("threads", "Threads", "count"),
        Column("epoch_seconds", "Seconds\nan epoch", "seconds", interval=True),
        Column("epochs_to_convergence", "Epochs to\nconverge", "count"),
        Column("seconds_to_convergence", "Seconds to\nconverge", "seconds"),
        Column("compile_seconds", "Seconds to\ncompile", "seconds"),
        Column("peak_rss_bytes", "Memory\n(MiB)", "mebibytes"),
    )
    rows = [
        Row(training_time_cells(results, pair, method, threads), group=results.pair_title(pair))
        for pair in results.pairs_of(results.timing)
        for method in results.methods_of(of_pair(results.timing, pair))
        for threads in timed(results, pair, method)["threads"].unique().sort()
    ]
    machines = results.timing["machine"].drop_nulls().unique().sort().to_list()
    return Table(
        columns,
        tuple(rows),
        caption="Training time",
        label="tab:training-time",
        notes=(
            "Seconds an epoch: median [minimum, maximum] over repeats, each a fresh process alone on the machine.",
            "Convergence: the epoch with the best validation metric and the training seconds up to its end, "
            "median over seeds, in the runs that choose the epochs; those share the machine with other jobs.",
            "Compile: compiling the kernels or loading them. Memory: the largest peak of the process.",
            f"Machine: {'; '.join(machines) or 'unknown'}.",
        ),
    )


def timed(results: Results, pair: Pair, method: str) -> pl.DataFrame:
    """Return the timing of one method."""
    return of_pair(results.timing, pair).filter(pl.col("method") == method)


def training_time_cells(results: Results, pair: Pair, method: str, threads: int) -> tuple[Cell, ...]:
    """Return one row of the table of training times."""
    rows = timed(results, pair, method).filter(pl.col("threads") == threads)
    compiled = rows.filter(pl.col("phase") == "compile").group_by("repeat").agg(pl.col("seconds").sum())["seconds"]
    converged = to_best_epoch(of_pair(results.history, pair).filter(pl.col("method") == method)).drop_nulls()
    return (
        *(Cell(text) for text in (*pair, method, results.method_title(method))),
        Cell(threads),
        epoch_cell(rows),
        Cell(median(converged["epoch"].to_list()) if len(converged) else None),
        Cell(median(converged["seconds"].to_list()) if len(converged) else None),
        Cell(median(compiled) if len(compiled) else None),
        Cell(rows["peak_rss_bytes"].max()),  # type: ignore[arg-type]
    )


def epoch_cell(timing: pl.DataFrame) -> Cell:
    """Return the median over repeats of the median epoch, with minimum and maximum over repeats."""
    epochs = timing.filter(pl.col("phase") == "epoch").group_by("repeat").agg(pl.col("seconds").median())
    seconds = sorted(epochs["seconds"].to_list())
    return Cell(median(seconds), seconds[0], seconds[-1]) if seconds else Cell()
