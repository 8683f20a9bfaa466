"""Stage `paper-table`: one table of a VSE paper, each printed number beside ours, as CSV, Markdown and LaTeX."""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.core.errors import UserError
from vsebench.core.storage import read_parquet
from vsebench.evaluation.growth import exponents
from vsebench.papers.audit.cells import Cell as Printed
from vsebench.papers.audit.cells import read_cells
from vsebench.rendering.names import PAPER_TABLES
from vsebench.rendering.results import METRIC_NAMES, Results, add_common_arguments, open_results
from vsebench.rendering.table import Cell, Column, Row, Table
from vsebench.rendering.tables import write_table
from vsebench.stages.compare import COLUMNS as COMPARISON
from vsebench.stages.compare import SECONDS

TITLES = {"vse_ens": "VSE-ens", "vse_fs": "VSE-fs", "warp": "WARP", "opt_auc": "Opt-AUC"}
DATASETS = {"openimages": "Open Images", "nuswide": "NUS-WIDE", "iapr": "IAPR TC-12", "flickr": "Flickr"}
GROWTH = ("pairs", "labels", "factors")
GROWTH_COLUMNS = tuple(Column(name, f"Exponent of\n{name}", "mean", interval=True) for name in GROWTH)
GROWTH_NOTES = (
    "Exponent: seconds of an epoch grow with that power; least squares on logarithms, 95 % t-intervals over repeats.",
    "Measured on simulated data, at the start of training. Pairs grow with the images.",
)
NOTHING_OF_OURS = "No data set of this run can be compared with the paper's."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("name", choices=PAPER_TABLES)
    add_common_arguments(parser)
    parser.add_argument("--published", type=Path, required=True, help="folder of the published numbers")
    parser.add_argument("--scaling", type=Path, help="scaling.parquet")
    parser.add_argument("--out", type=Path, required=True, help="file to write, without .csv, .md, .tex")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    scaling = exponents(read_parquet(arguments.scaling)) if arguments.scaling else None
    table = paper_table(arguments.name, arguments.published, open_results(arguments), scaling)
    write_table(table, arguments.out)


def paper_table(name: str, published: Path, results: Results, scaling: pl.DataFrame | None = None) -> Table:
    """Return one of the PAPER_TABLES; `published` is the folder of the published numbers."""
    paper, _, table = name.rpartition("_")
    path = published / f"{paper}.csv"
    printed = [cell for cell in read_cells([path]).all if cell.table == table]
    if not printed:
        raise UserError(f"{path}: has no {table}")
    compared = read_comparison(results.folder / "comparison.csv").filter(paper=paper, table=printed[0].table)
    match PAPER_TABLES[name]:
        case "accuracy":
            columns, rows, notes = accuracy(printed, compared, results)
        case "time":
            columns, rows, notes = times(paper, printed, compared, results)
        case "complexity":
            columns, rows, notes = complexity(printed, scaling)
        case _:
            columns, rows, notes = statistics(printed, results)
    number = printed[0].table.removeprefix("table")
    caption = f"{TITLES[paper]} paper, Table {number}: published and recomputed"
    return Table(tuple(columns), tuple(rows), caption, f"tab:{name.replace('_', '-')}", notes=tuple(notes), fold=5)


def read_comparison(path: Path) -> pl.DataFrame:
    """Read comparison.csv."""
    try:
        return pl.read_csv(path, schema=COMPARISON)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{path}: not a readable comparison ({error}); delete it and run again") from None


def accuracy(
    printed: list[Printed], compared: pl.DataFrame, results: Results
) -> tuple[list[Column], list[Row], list[str]]:
    """Return methods x metrics: each line of the paper, and below it ours with intervals."""
    metrics = list(dict.fromkeys(cell.column for cell in printed if not cell.row.endswith("/improve")))
    columns = [Column("dataset", "Data set", shown=False), Column("method", "Method"), Column("source", "Source")]
    # Of Pre@N, which is Rec@N / N here, LaTeX leaves the intervals out.
    columns += [
        Column(metric, metric_heading(metric), "score", interval=True, narrow=metric.startswith("pre"))
        for metric in metrics
    ]
    rows = []
    for dataset, method in lines_of(printed):
        cells = {cell.column: cell for cell in printed if cell.row == f"{dataset}/{method}"}
        group = DATASETS[dataset]
        texts = [Cell(group), Cell(TITLES[method]), Cell("published")]
        values = [Cell(float(cells[metric].value)) if metric in cells else Cell() for metric in metrics]
        rows.append(Row((*texts, *values), group=group))
        for row, ours in rows_of(compared, f"{dataset}/{method}"):
            texts = [Cell(group), Cell(results.method_title(row)), Cell("here")]
            rows.append(Row((*texts, *(our_cell(ours.get(metric)) for metric in metrics)), group=group))
    notes = [
        "Here: mean over seeds with bootstrap 95 % intervals over images and seeds; settings chosen on validation.",
        "Bold: the published value lies in our interval. The papers' MAP, NDCG and AUC are cut off at 10.",
    ]
    return columns, rows, notes if len(compared) else [NOTHING_OF_OURS, *notes]


def metric_heading(metric: str) -> str:
    """Return a metric's title.

    >>> metric_heading("rec@10")
    'Rec@10'
    """
    name, _, cutoff = metric.partition("@")
    return f"{METRIC_NAMES[name]}@{cutoff}"


def our_cell(ours: dict[str, Any] | None) -> Cell:
    if ours is None:
        return Cell()
    return Cell(ours["ours"], ours["ci_low"], ours["ci_high"], bold=ours["verdict"] == "inside")


def lines_of(printed: Iterable[Printed]) -> Iterator[tuple[str, str]]:
    """Yield each data set and method that a table has a line for, in the order of print."""
    names = [cell.row.split("/") for cell in printed]
    datasets = dict.fromkeys(name[0] for name in names)
    methods = dict.fromkeys(name[1] for name in names if len(name) == 2)
    there = {tuple(name) for name in names}
    return ((dataset, method) for dataset in datasets for method in methods if (dataset, method) in there)


def rows_of(compared: pl.DataFrame, row: str) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    """Yield each of our rows behind a printed line, with its comparisons by the printed column."""
    for method, group in compared.filter(row=row).group_by("method", maintain_order=True):
        yield str(method[0]), {line["column"]: line for line in group.iter_rows(named=True)}


def times(
    paper: str, printed: list[Printed], compared: pl.DataFrame, results: Results
) -> tuple[list[Column], list[Row], list[str]]:
    """Return the times of the methods, and how many times the paper's own method's they are."""
    columns = [Column("dataset", "Data set", shown=False), Column("method", "Method"), Column("source", "Source")]
    columns += [Column("seconds", "Seconds", "seconds", interval=True)]
    columns += [Column("ratio", f"Ratio to\n{TITLES[paper]}", "mean")]
    rows = []
    for dataset, method in lines_of(printed):
        group, line = DATASETS[dataset], f"{dataset}/{method}"
        published = {cell.row: float(cell.value) * SECONDS[cell.unit] for cell in printed if cell.unit in SECONDS}
        texts = [Cell(group), Cell(TITLES[method]), Cell("published")]
        values = [Cell(published[line]), Cell(published[line] / published[f"{dataset}/{paper}"])]
        rows.append(Row((*texts, *values), group=group))
        own = compared.filter(row=f"{dataset}/{paper}", method=paper)["ours"].to_list()
        for row, ours in rows_of(compared, line):
            (found,) = ours.values()
            value = Cell(found["ours"], found["ci_low"], found["ci_high"])
            texts = [Cell(group), Cell(results.method_title(row)), Cell("here")]
            rows.append(Row((*texts, value, Cell(found["ours"] / own[0] if own else None)), group=group))
    span = "an iteration (an epoch), median and range over repeats, each a fresh process alone on one core"
    if paper == "vse_ens":
        span = "of training up to the best epoch on the validation labels, median and range over seeds"
    notes = [f"Here: seconds {span}. The machines differ by years, so only the ratios can be compared."]
    return columns, rows, notes if len(compared) else [NOTHING_OF_OURS, *notes]


def complexity(printed: list[Printed], scaling: pl.DataFrame | None) -> tuple[list[Column], list[Row], list[str]]:
    """Return the printed complexity of each method beside the growth that was measured."""
    columns = [Column("method", "Method"), Column("published", "Published"), *GROWTH_COLUMNS]
    rows = [Row((Cell(TITLES[cell.row]), Cell(cell.value), *growth_cells(scaling, cell.row))) for cell in printed]
    notes = list(GROWTH_NOTES)
    return columns, rows, notes if scaling is not None else ["This run has no `scaling`: nothing was measured.", *notes]


def growth_table(scaling: pl.DataFrame, results: Results) -> Table:
    """Return the measured growth of every method's epoch."""
    methods = results.methods_of(scaling)
    rows = [Row((Cell(results.method_title(method)), *growth_cells(scaling, method))) for method in methods]
    columns = (Column("method", "Method"), *GROWTH_COLUMNS)
    return Table(columns, tuple(rows), "Growth of an epoch's time", "tab:growth", notes=GROWTH_NOTES)


def growth_cells(scaling: pl.DataFrame | None, method: str) -> list[Cell]:
    """Return a method's exponents with their intervals, as far as they were measured."""
    cells = []
    for variable in GROWTH:
        found = pl.DataFrame() if scaling is None else scaling.filter(method=method, variable=variable)
        cells.append(Cell(*found.select("exponent", "ci_low", "ci_high").row(0)) if len(found) else Cell())
    return cells


def statistics(printed: list[Printed], results: Results) -> tuple[list[Column], list[Row], list[str]]:
    """Return the counts of the papers' data sets beside those of ours that stand for them."""
    columns = [Column("dataset", "Data set", shown=False), Column("quantity", "Quantity")]
    columns += [Column("published", "Published", "count"), Column("here", "Here", "count"), Column("ours", "Data here")]
    rows = []
    for cell in printed:
        entry = counterpart(cell, results)
        ours, title = (None, "") if entry is None else (our_count(cell, entry), str(entry["title"]))
        texts = [Cell(DATASETS[cell.dataset]), Cell(cell.column.replace("_", " "))]
        rows.append(Row((*texts, Cell(float(cell.value)), Cell(ours), Cell(title)), group=DATASETS[cell.dataset]))
    rows.sort(key=lambda row: list(DATASETS.values()).index(row.group))
    notes = [
        "Here: the real data set of this run that stands for the paper's.",
        "The audit of the papers lists what contradicts itself in the published column.",
    ]
    return columns, rows, notes


def counterpart(cell: Printed, results: Results) -> dict[str, Any] | None:
    """Return the real data set of the run that stands for a data set of the papers."""
    openimages = "openimages-ens" if cell.paper == "vse_ens" else "openimages-fs"
    names = {"iapr": "saiapr", "nuswide": "nuswide", "openimages": openimages}
    return results.datasets.get(names.get(cell.dataset, ""))


def our_count(cell: Printed, entry: dict[str, Any]) -> float | None:
    """Return our count of what a cell prints, if it is one of the counts of a label matrix."""
    counts = entry["counts"]
    match cell.column:
        case "images" | "labels":
            return float(counts[cell.column])
        case "positive_labels_per_image":
            return float(counts["occurrences_per_image"]["mean"])
        case "non_positive_labels_per_image":
            return float(counts["vocabulary"] - counts["labels_per_image"]["mean"])
    return None
