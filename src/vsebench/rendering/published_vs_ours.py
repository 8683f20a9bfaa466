"""Tables that compare a paper's printed numbers with ours."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import polars as pl

from vsebench.core.tasks import Task
from vsebench.papers.base import Paper
from vsebench.papers.published import PrintedCell
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Row

ON_OTHER_DATA = "published and on this run's data"
MEASURED = "published and measured"


class PrintedTable(TableKind):
    """Base class of kinds that show a paper's table together with our numbers."""

    paper: PaperFile
    printed: str  # the table's name in the paper's CSV file, such as table2 or supplement_table1
    about: str = ""  # what the table shows, for its caption

    def read(self) -> tuple[Paper, list[PrintedCell]]:
        """Return the paper and the cells of the printed table."""
        paper = Paper.read(self.paper)
        return paper, paper.printed(self.printed)

    def applies(self, outline: Outline) -> bool:
        """Return whether the run recomputes a number of the printed table.

        Some kinds show our results on other data, so they do not need the printed numbers to be recomputed. A table of
        such a kind applies if the run has one of the printed metrics, and has results of one of the printed methods on
        at least one task. If the kind has the parameter `protocols`, only tasks with these protocols count.
        """
        if "comparison" in self.needs:
            return self.printed in outline.compared.get(self.paper.stem, ())
        paper, cells = self.read()
        metrics = {*outline.metrics, *outline.decision_metrics}.intersection(cell.column for cell in cells)
        methods = [paper.rows[cell.method].ours for cell in cells if cell.method in paper.rows]
        tasks = outline.tasks_with(*chain.from_iterable(methods), protocols=getattr(self, "protocols", None))
        return bool(metrics and tasks)

    def caption(self, paper: Paper, origin: str = "published and recomputed") -> str:
        """Return the caption of the table; `origin` states where the numbers are from."""
        part, _, number = self.printed.rpartition("table")
        words = part.replace("_", " ") + (f"Table {number}" if number else self.printed.replace("_", " "))
        return f"{paper.title} paper, {words}: {', '.join(filter(None, [self.about, origin]))}"

    def compared(self, results: Results) -> pl.DataFrame:
        """Return the comparisons of the printed numbers with ours, as a table with the schema `COMPARISON`."""
        return results.comparison.filter(paper=self.paper.stem, table=self.printed)


def metrics_of_methods(printed: Iterable[PrintedCell]) -> list[PrintedCell]:
    """Return the cells that contain a number and belong to a row with a name such as "<data set>/<method>"."""
    return [cell for cell in printed if not cell.is_words and len(cell.row.split("/")) == 2]


def lines_of(printed: Iterable[PrintedCell]) -> Iterator[tuple[str, str]]:
    """Yield the data set and the method of each row of a printed table, data set by data set.

    Data sets and methods are in the order in which they first occur in `printed`. Rows are left out if their names do
    not have the form "<data set>/<method>".
    """
    names = [cell.row.split("/") for cell in printed]
    datasets = dict.fromkeys(name[0] for name in names)
    methods = dict.fromkeys(name[1] for name in names if len(name) == 2)
    printed_rows = {tuple(name) for name in names}
    return ((dataset, method) for dataset in datasets for method in methods if (dataset, method) in printed_rows)


def printed_row(paper: Paper, printed: Iterable[PrintedCell], line: str, columns: Iterable[str]) -> Row:
    """Return a row with the printed numbers of one method on one data set.

    The row consists of the titles of the data set and the method, the word "published", and the numbers in the given
    columns. `line` is the name of the row in the printed table, "<data set>/<method>".
    """
    dataset, _, method = line.partition("/")
    title = paper.task_title(dataset)
    number_of = {cell.column: cell.number for cell in printed if cell.row == line}
    return Row.of(title, paper.row_title(method), "published", *map(number_of.get, columns), group=title)


def ours_of(compared: pl.DataFrame, line: str) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    """Yield each of our variants of the method in one printed row, with the comparisons of this variant.

    `line` is the name of the printed row, and `compared` a table with the schema `COMPARISON`. The comparisons of a
    variant are a mapping from the name of a printed column to a row of `compared`.
    """
    for method, group in compared.filter(row=line).group_by("method", maintain_order=True):
        yield str(method[0]), {comparison["column"]: comparison for comparison in group.iter_rows(named=True)}


def our_title(results: Results, variant: str, ours: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the title of one of our variants, with the marks of its fits on the tasks of the comparisons `ours`."""
    tasks = {Task(comparison["dataset"], comparison["protocol"]) for comparison in ours.values()}
    return results.method_title(variant, *tasks)


def notes_of_tasks(paper: Paper, printed: Iterable[PrintedCell]) -> list[str]:
    """Return the remarks in the paper's YAML file on the data sets of a table, as sentences."""
    tasks = [paper.tasks.get(dataset) for dataset in dict.fromkeys(cell.dataset for cell in printed)]
    return [f"{task.title}: {task.note}." for task in tasks if task is not None and task.note]


def note_of_missing(methods: Iterable[str]) -> list[str]:
    """Return a list with a note on the given methods, which the run lacks; without methods, the list is empty."""
    names = ", ".join(methods)
    return [f"Left out, because this run lacks these methods: {names}."] if names else []
