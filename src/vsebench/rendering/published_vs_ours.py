"""Helpers for tables that compare a paper's printed numbers with ours."""

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from vsebench.papers.base import Paper
from vsebench.papers.published import PrintedCell
from vsebench.rendering.results import Results

ON_OTHER_DATA = "published, and the same methods on this run's data"
NOTHING_OF_OURS = "No data set of this run can be compared with the paper's."


def caption(paper: Paper, table: str, content: str = "published and recomputed") -> str:
    """Return the caption of a printed table with our numbers.

    Parameters
    ----------
    table : its name in the CSV file, such as table2 or supplement_table1
    content : what it contains, in words
    """
    part, _, number = table.rpartition("table")
    words = part.replace("_", " ") + (f"Table {number}" if number else table.replace("_", " "))
    return f"{paper.title} paper, {words}: {content}"


def compared(results: Results, paper: Paper, table: str) -> pl.DataFrame:
    """Return the comparisons of one printed table."""
    return results.comparison.filter(paper=paper.name, table=table)


def notes_of_tasks(paper: Paper, printed: Iterable[PrintedCell]) -> list[str]:
    """Return the remarks in the paper's YAML file on the data sets of a table, as sentences."""
    tasks = [paper.tasks.get(dataset) for dataset in dict.fromkeys(cell.dataset for cell in printed)]
    return [f"{task.title}: {task.note}." for task in tasks if task is not None and task.note]


def lines_of(printed: Iterable[PrintedCell]) -> Iterator[tuple[str, str]]:
    """Yield each data set and method that has a row in a published table, in the order printed there."""
    names = [cell.row.split("/") for cell in printed]
    datasets = dict.fromkeys(name[0] for name in names)
    methods = dict.fromkeys(name[1] for name in names if len(name) == 2)
    printed_rows = {tuple(name) for name in names}
    return ((dataset, method) for dataset in datasets for method in methods if (dataset, method) in printed_rows)


def ours_of(compared: pl.DataFrame, line: str) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    """Yield each of our variants of a printed row's method, with its comparisons by printed column."""
    for method, group in compared.filter(row=line).group_by("method", maintain_order=True):
        yield str(method[0]), {comparison["column"]: comparison for comparison in group.iter_rows(named=True)}
