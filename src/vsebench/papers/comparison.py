"""Compare published numbers with ours for the same data and protocol; simulated data are left out.

A paper's `tasks` and `rows` state which of our tasks and methods correspond to those of the paper. The verdict on an
accuracy is "inside" if our 95 % interval over images and seeds contains a value that rounds to the published value, and
otherwise "outside". Times get no verdict: they were measured on different machines, so only their ratios can be
compared.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import polars as pl

from vsebench.core.schemas import COMPARISON
from vsebench.core.tasks import Entry, Task
from vsebench.evaluation.convergence import seconds_by_seed, to_best_epoch
from vsebench.papers.base import Paper
from vsebench.papers.published import SECONDS, PrintedCell

Numbers = tuple[float, float, float]  # value, lowest, highest


@dataclass(frozen=True)
class Ours:
    """The combined results of a run, with the tables SUMMARY, TIMING and HISTORY of `core.schemas`."""

    summary: pl.DataFrame
    timing: pl.DataFrame
    history: pl.DataFrame
    real: set[str]  # the data sets that are not simulated
    at_limit: Collection[tuple[Task, str]] = ()  # tasks and methods with a fit that a limit on epochs stopped

    def find(self, column: str, task: Task, row: str) -> Numbers | None:
        """Return our value of a published quantity, with its bounds; None if the run has no such value.

        `column` is the name of the quantity in the paper's CSV file. `row` is a method or "method/decision".
        """
        return TIMES[column].find(self, task, row) if column in TIMES else self.accuracy(column, task, row)

    def accuracy(self, metric: str, task: Task, row: str) -> Numbers | None:
        """Return the mean and 95 % interval of a metric for a method or "method/decision"; None if the run lacks it."""
        entry = Entry.of(row)
        entries = _of(self.summary, task, entry.variant).filter(decision=entry.decision, metric=metric)
        return entries.select("value", "ci_low", "ci_high").row(0) if len(entries) else None

    def seconds_of_epoch(self, task: Task, row: str) -> Numbers | None:
        """Return the seconds per epoch of a method: the median, lowest and highest over the repeats.

        The seconds of a repeat are the median over its epochs. The result is None if the run did not time the method.
        """
        epochs = _of(self.timing, task, row).filter(phase="epoch")
        return _range(epochs.group_by("repeat").agg(pl.col("seconds").median())["seconds"].to_list())

    def seconds_to_converge(self, task: Task, row: str) -> Numbers | None:
        """Return the training time up to the best epoch, in seconds: the median, lowest and highest over the seeds.

        The times are those of the fits that the run timed while no other job was running. If there are none, they are
        those of the ordinary fits. If a limit on epochs stopped a fit, its best epoch is unknown, so the result is
        None.
        """
        if (task, row) in self.at_limit:
            return None
        timed = list(seconds_by_seed(_of(self.timing, task, row)).values())
        return _range(timed or to_best_epoch(_of(self.history, task, row))["seconds"].to_list())


@dataclass(frozen=True)
class Time:
    """How this project measures a time that papers print: a definition in words, and a function that finds the time."""

    words: str  # definition of the time and its bounds, for the notes of a table
    find: Callable[[Ours, Task, str], Numbers | None]


TIMES = {  # column in the CSV files -> measurement
    "iteration_time": Time(
        "per iteration (an epoch), median and range over repeats, each in a fresh process on one core while no other "
        "job of the run was running",
        Ours.seconds_of_epoch,
    ),
    "training_time": Time(
        "of training up to the best epoch on the validation labels, median and range over seeds, on one core (none if "
        "a limit on epochs stopped a fit, because its best epoch may be later); if the run has `timing.to_best_epoch`, "
        "measured while no other job of the run was running",
        Ours.seconds_to_converge,
    ),
}


def compared_tables(
    paper: Paper, entries: Mapping[str, Collection[str]], metrics: Collection[str], simulated: Collection[str]
) -> list[str]:
    """Return the names of the printed tables that contain a number to compare with the run.

    The run must measure the same quantity for the same data and protocol.

    Parameters
    ----------
    entries : maps "dataset/protocol" to the methods with results, and to "method/decision" for each of their decisions
    metrics : the run's metrics
    simulated : the simulated data sets, which are not compared
    """
    names = dict.fromkeys(
        cell.table
        for cell in paper.cells.all
        if (task := _task_of(paper, cell)) is not None
        and task.dataset not in simulated
        and (cell.column in TIMES or cell.column in metrics)
        and not set(paper.rows[cell.method].ours).isdisjoint(entries.get(str(task), ()))
    )
    return list(names)


def _task_of(paper: Paper, cell: PrintedCell) -> Task | None:
    """Return the task of this project that corresponds to a printed cell; None if there is no such task."""
    if cell.in_text or cell.is_words or cell.method not in paper.rows or cell.dataset not in paper.tasks:
        return None
    return paper.tasks[cell.dataset].ours


def compare(paper: Paper, ours: Ours) -> pl.DataFrame:
    """Compare the numbers in a paper's tables with our results; return the table COMPARISON of `core.schemas`."""
    return pl.DataFrame([row for cell in paper.cells.all for row in _compare(paper, cell, ours)], schema=COMPARISON)


def _compare(paper: Paper, cell: PrintedCell, ours: Ours) -> list[dict[str, Any]]:
    """Return a row of COMPARISON for each of our variants that has a value to compare with a printed cell."""
    task = _task_of(paper, cell)
    if task is None or task.dataset not in ours.real:
        return []
    lines = []
    for row in paper.rows[cell.method].ours:
        numbers = ours.find(cell.column, task, row)
        if numbers is not None:
            keys = {"paper": paper.name, "table": cell.table, "row": cell.row, "column": cell.column}
            keys |= {"dataset": task.dataset, "protocol": task.protocol, "method": row}
            lines.append(keys | _judged(cell, *numbers))
    return lines


def _judged(cell: PrintedCell, value: float, low: float, high: float) -> dict[str, Any]:
    """Return the columns of COMPARISON that contain the published number, our number, and the verdict.

    `low` and `high` are the bounds of our number, `value`. Times are in seconds, and percentages are given as shares.
    """
    published = cell.number
    numbers = {"published": published, "ours": value, "ci_low": low, "ci_high": high, "difference": value - published}
    if cell.unit in SECONDS:
        return numbers | {"unit": "seconds", "verdict": None}
    # The printed value is rounded, so it may be off by up to half a unit of its last digit.
    slack = 0.5 * cell.scale * 10.0 ** -len(cell.value.partition(".")[2])
    inside = low - slack <= published <= high + slack
    # An interval with all possible values is one whose width is not known.
    is_known = low > 0 or high < 1
    return numbers | {"unit": "1", "verdict": ("inside" if inside else "outside") if is_known else None}


def _of(frame: pl.DataFrame, task: Task, row: str) -> pl.DataFrame:
    return frame.filter(dataset=task.dataset, protocol=task.protocol, method=row)


def _range(values: list[float]) -> Numbers | None:
    return (median(values), min(values), max(values)) if values else None
