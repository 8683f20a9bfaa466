"""Show a paper's accuracies beside ours: on the same data, on other data, or as improvements over baselines."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from vsebench.core.tasks import Entry, Task
from vsebench.rendering.accuracy import accuracy_cells
from vsebench.rendering.choices import NOTE_OF_CHOICES, chosen_at
from vsebench.rendering.metrics import metric_form, metric_title
from vsebench.rendering.published_vs_ours import (
    ON_OTHER_DATA,
    PrintedTable,
    lines_of,
    metrics_of_methods,
    note_of_missing,
    notes_of_tasks,
    our_title,
    ours_of,
    printed_row,
)
from vsebench.rendering.results import Results, pick
from vsebench.rendering.table import Cell, Column, Row, Table

NOTES_OF_SAME_DATA = (
    "Here: mean over seeds with 95 % intervals over {units}.",
    "Bold: our interval contains the published value.",
    "The tables of accuracy on single data sets state how the settings of our methods were chosen.",
)
PERCENT = "The paper prints percentages; they are shown as shares."
NOTES_OF_OTHER_DATA = (
    "In percent. This run's data sets differ from the paper's, so our numbers cannot be compared with the published "
    "ones, but the order of the methods can.",
    "Here: mean over seeds with 95 % intervals over {units}. Bold: "
    "best of all methods of the run on that data set; †: not significantly different from the best.",
)
IMPROVE = "improve"  # the last part of the name of a row of improvements in the CSV file


class AccuracyBesidePublished(PrintedTable):
    """A table of the methods' published metrics and ours, on each of the paper's data sets.

    Our values are shown only if our data and protocol are the same as the paper's.
    """

    needs = ("comparison",)

    note: str = ""  # a remark on the printed numbers

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells, comparisons = metrics_of_methods(printed), self.compared(results)
        metrics = list(dict.fromkeys(cell.column for cell in cells))
        columns = [Column("dataset", "Data set", shown=False), Column("method", "Method"), Column("source", "Source")]
        columns += [Column(metric, metric_title(metric), metric_form(metric), interval=True) for metric in metrics]
        rows = []
        for dataset, method in lines_of(cells):
            line, group = f"{dataset}/{method}", paper.task_title(dataset)
            rows.append(printed_row(paper, cells, line, metrics))
            for variant, ours in ours_of(comparisons, line):
                values = (our_cell(ours.get(metric)) for metric in metrics)
                rows.append(Row.of(group, our_title(results, variant, ours), "here", *values, group=group))
        notes = [note.format(units=results.units) for note in NOTES_OF_SAME_DATA]
        notes += [self.note] if self.note else []
        notes += [PERCENT] if any(cell.unit == "percent" for cell in cells) else []
        notes += notes_of_tasks(paper, cells)
        return Table(columns, rows, self.caption(paper), notes, fold=5)


def our_cell(ours: dict[str, Any] | None) -> Cell:
    """Return a cell with our value and its interval; `ours` is a row of the schema `COMPARISON`.

    The cell is bold if the published value lies in our interval. If `ours` is None, the cell is empty.
    """
    if ours is None:
        return Cell()
    return Cell(ours["ours"], ours["ci_low"], ours["ci_high"], bold=ours["verdict"] == "inside")


class AccuracyBesideOwnData(PrintedTable):
    """A table of a paper's accuracies, followed by the accuracies of the same methods on our data.

    Our rows cover the tasks on which at least one of these methods was run.
    """

    needs = ("summary", "datasets", "settings")

    # entries of the run that the paper does not have, shown last; each is a "method" or a "method/decision"
    also: list[str] = Field(default_factory=list)
    protocols: list[str] | None = Field(default=None, min_length=1)  # protocols of the tasks to show; none: all tasks
    note: str = ""  # a remark on the printed numbers

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells = metrics_of_methods(printed)
        metrics = list(dict.fromkeys(cell.column for cell in cells))
        columns = [Column("dataset", "Data set", shown=False), Column("method", "Method", width=0.25)]
        columns += [Column("source", "Source")]
        forms = {metric: metric_form(metric) for metric in metrics}
        columns += [
            Column(
                metric,
                metric_title(metric).replace(" ", "\n"),
                "count" if forms[metric] == "count" else "percent",
                interval=True,
            )
            for metric in metrics
        ]
        columns += [Column("settings", "Settings", width=0.14)]  # last, so that a narrow screen shows numbers first
        shown = [*metrics, "settings"]  # no paper prints how each setting was chosen, so this cell stays empty
        rows = [printed_row(paper, cells, f"{dataset}/{method}", shown) for dataset, method in lines_of(cells)]
        methods = dict.fromkeys(method for _, method in lines_of(cells) if method in paper.rows)
        ours = list(dict.fromkeys(variant for method in methods for variant in paper.rows[method].ours))
        for task in results.tasks_of(results.summary):
            if self.protocols is None or task.protocol in self.protocols:
                rows += our_rows(results, task, [*ours, *self.also], metrics)
        notes = [*(note.format(units=results.units) for note in NOTES_OF_OTHER_DATA), NOTE_OF_CHOICES]
        notes += [self.note] if self.note else []
        notes += notes_of_tasks(paper, cells)
        notes += note_of_missing(name for name in [*ours, *self.also] if not has(results, name))
        return Table(columns, rows, self.caption(paper, ON_OTHER_DATA), notes, fold=5)


def has(results: Results, name: str) -> bool:
    """Return whether the run has the entry `name`, which is a "method" or a "method/decision"."""
    entry = Entry.of(name)
    return entry.variant in results.outline.variants and entry.decision in ("", *results.outline.decisions)


def our_rows(results: Results, task: Task, methods: Sequence[str], metrics: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each of the `methods` that were run on a task, in the order of `methods`."""
    accuracy, title = results.accuracy(task), results.task_title(task)
    for method in methods:
        by_metric = [pick(accuracy, metric, method) for metric in metrics]
        if any(by_metric):
            cells = (accuracy_cells(results, numbers)[0] for numbers in by_metric)
            chosen = chosen_at(results, task, Entry.of(method).variant)
            yield Row.of(title, results.entry_title(method, task), "here", *cells, chosen, group=title)


class ImprovementBesidePublished(PrintedTable):
    """A table of a method's improvements over baselines, as published and as measured by us.

    For each baseline, a row with the paper's numbers comes first. It is followed by our rows, one for each pair of a
    variant of the method and a variant of the baseline.
    """

    needs = ("comparison",)

    about: str = "improvements"
    method: str  # the paper's method that is compared with the baselines

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells = [cell for cell in printed if cell.row.split("/")[2:] == [IMPROVE]]
        comparisons = self.compared(results)
        metrics = list(dict.fromkeys(cell.column for cell in cells))
        columns = [Column("dataset", "Data set", shown=False), Column("over", "Improvement", width=0.3)]
        columns += [Column("source", "Source")]
        columns += [Column(metric, metric_title(metric), "percent") for metric in metrics]
        ours_title = paper.row_title(self.method)
        rows = []
        for line in dict.fromkeys(cell.row for cell in cells):
            dataset, rival, _ = line.split("/")
            group = paper.task_title(dataset)
            published = {cell.column: cell.number for cell in cells if cell.row == line}
            title = f"{ours_title} over {paper.row_title(rival)}"
            rows.append(Row.of(group, title, "published", *map(published.get, metrics), group=group))
            for baseline, theirs in ours_of(comparisons, f"{dataset}/{rival}"):
                for variant, ours in ours_of(comparisons, f"{dataset}/{self.method}"):
                    title = f"{our_title(results, variant, ours)} over {our_title(results, baseline, theirs)}"
                    both = [(ours.get(metric), theirs.get(metric)) for metric in metrics]
                    values = [improvement(a["ours"], b["ours"]) if a and b else None for a, b in both]
                    rows.append(Row.of(group, title, "here", *values, group=group))
        rivals = dict.fromkeys(cell.row.split("/")[1] for cell in cells)
        notes = [
            f"In percent, by the paper's formula: {ours_title}'s value divided by the baseline's, minus 1. The paper "
            f"prints this for the baselines {', '.join(map(paper.row_title, rivals))}. Negative: worse than the "
            "baseline.",
            "For the significance of the differences, see the tests of the claims.",
        ]
        return Table(columns, rows, self.caption(paper), notes, fold=4)


def improvement(value: float, baseline: float) -> float | None:
    """Return the relative improvement of a value over a baseline, or None if the baseline is 0.

    >>> round(improvement(0.0598, 0.0595), 4)
    0.005
    """
    return value / baseline - 1 if baseline else None
