"""A paper's table of accuracies, and the same methods on data sets of the run that the paper did not use."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from vsebench.core.tasks import Entry, Task
from vsebench.rendering.accuracy import accuracy_cells
from vsebench.rendering.choices import NOTE, chosen_at
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.published_vs_ours import (
    ON_OTHER_DATA,
    PrintedTable,
    lines_of,
    metrics_of_methods,
    note_of_missing,
    notes_of_tasks,
    printed_row,
)
from vsebench.rendering.results import Results, pick
from vsebench.rendering.table import Column, Row, Table

NOTES = (
    "Percent. The data sets of this run are not the paper's, so the numbers cannot be compared with the published "
    "ones, but the order of the methods can.",
    "Here: mean over seeds with 95 % intervals over {units}. Bold: "
    "best of all methods of the run on that data set; †: not significantly different from the best.",
)


class AccuracyBesideOwnData(PrintedTable):
    """The printed rows by data set, then the same methods on every task of the run that has one of them."""

    needs = ("summary", "datasets", "settings")

    # "method" or "method/decision" of the run that the paper lacks, shown below
    also: list[str] = Field(default_factory=list)
    protocols: list[str] | None = Field(default=None, min_length=1)  # the protocols of the tasks shown; none: all tasks
    note: str = ""  # a remark on the printed numbers

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells = metrics_of_methods(printed)
        metrics = list(dict.fromkeys(cell.column for cell in cells))
        columns = [Column("dataset", "Data set", shown=False), Column("method", "Method", width=0.25)]
        columns += [Column("source", "Source"), Column("settings", "Settings", width=0.14)]
        columns += [
            Column(metric, metric_title(metric).replace(" ", "\n"), "percent", interval=True) for metric in metrics
        ]
        shown = ["settings", *metrics]  # no paper prints how each setting was chosen, so this cell stays empty
        rows = [printed_row(paper, cells, f"{dataset}/{method}", shown) for dataset, method in lines_of(cells)]
        methods = dict.fromkeys(method for _, method in lines_of(cells) if method in paper.rows)
        ours = list(dict.fromkeys(variant for method in methods for variant in paper.rows[method].ours))
        for task in results.tasks_of(results.summary):
            if self.protocols is None or task.protocol in self.protocols:
                rows += our_rows(results, task, [*ours, *self.also], metrics)
        notes = [*(note.format(units=results.units) for note in NOTES), NOTE]
        notes += [self.note] if self.note else []
        notes += notes_of_tasks(paper, cells)
        notes += note_of_missing(name for name in [*ours, *self.also] if not has(results, name))
        return Table(columns, rows, self.caption(paper, ON_OTHER_DATA), notes, fold=5)


def has(results: Results, name: str) -> bool:
    """Return whether the run has a "method", or a "method/decision"."""
    entry = Entry.of(name)
    return entry.variant in results.outline.variants and entry.decision in ("", *results.outline.decisions)


def our_rows(results: Results, task: Task, methods: Sequence[str], metrics: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of one task in the order of `methods`, for those that were run on it."""
    accuracy, title = results.accuracy(task), results.task_title(task)
    for method in methods:
        by_metric = [pick(accuracy, metric, method) for metric in metrics]
        if any(by_metric):
            cells = (accuracy_cells(results, numbers)[0] for numbers in by_metric)
            chosen = chosen_at(results, task, Entry.of(method).variant)
            yield Row.of(title, results.entry_title(method), "here", chosen, *cells, group=title)
