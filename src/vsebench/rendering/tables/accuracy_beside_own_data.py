"""A paper's table of accuracies, and the same methods on data sets of the run that the paper did not use."""

from collections.abc import Sequence

from pydantic import Field

from vsebench.core.tasks import Entry, Task
from vsebench.papers.base import Paper
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.published_vs_ours import ON_OTHER_DATA, caption, lines_of, notes_of_tasks
from vsebench.rendering.results import Results, near_best, pick
from vsebench.rendering.table import Cell, Column, Row, Table

NOTES = (
    "Percent. The data sets of this run are not the paper's, so the numbers cannot be compared with the published "
    "ones, but the order of the methods can.",
    "Here: mean over seeds with 95 % intervals over {units}; settings chosen on validation. Bold: "
    "best of all methods of the run on that data set; †: not significantly different from the best.",
)


class AccuracyBesideOwnData(TableKind):
    """The printed rows by data set, then the same methods on every task of the run that has one of them."""

    needs = ("summary", "datasets")

    paper: PaperFile
    printed: str  # the table's name in the paper's CSV file
    also: list[str] = Field(
        default_factory=list
    )  # "method" or "method/decision" of the run that the paper lacks, shown below
    protocols: list[str] | None = Field(default=None, min_length=1)  # of the tasks shown; none: all
    note: str = ""  # a remark on the printed numbers

    def table(self, results: Results) -> Table:
        paper = Paper.read(self.paper)
        cells = [cell for cell in paper.printed(self.printed) if not cell.is_words and len(cell.row.split("/")) == 2]
        metrics = list(dict.fromkeys(cell.column for cell in cells))
        columns = [Column("dataset", "Data set", shown=False), Column("method", "Method", width=0.25)]
        columns += [Column("source", "Source")]
        columns += [
            Column(metric, metric_title(metric).replace(" ", "\n"), "percent", interval=True) for metric in metrics
        ]
        rows = []
        for dataset, method in lines_of(cells):
            published = {cell.column: cell.number for cell in cells if cell.row == f"{dataset}/{method}"}
            texts = [Cell(paper.task_title(dataset)), Cell(paper.row_title(method)), Cell("published")]
            numbers = (Cell(published.get(metric)) for metric in metrics)
            rows.append(Row((*texts, *numbers), group=paper.task_title(dataset)))
        methods = dict.fromkeys(method for _, method in lines_of(cells) if method in paper.rows)
        ours = list(dict.fromkeys(row for method in methods for row in paper.rows[method].ours))
        for task in results.tasks_of(results.summary):
            if self.protocols is not None and task.protocol not in self.protocols:
                continue
            rows += our_rows(results, task, [*ours, *self.also], metrics)
        notes = [
            *(note.format(units=results.units) for note in NOTES),
            *([self.note] if self.note else []),
            *notes_of_tasks(paper, cells),
        ]
        missing = [name for name in [*ours, *self.also] if not has(results, name)]
        notes += [f"Left out, because this run lacks these methods: {', '.join(missing)}."] if missing else []
        return Table(
            tuple(columns), tuple(rows), caption(paper, self.printed, ON_OTHER_DATA), notes=tuple(notes), fold=5
        )


def has(results: Results, name: str) -> bool:
    """Return whether the run has a "method", or a "method/decision"."""
    entry = Entry.of(name)
    return entry.variant in results.outline.variants and entry.decision in ("", *results.outline.decisions)


def our_rows(results: Results, task: Task, methods: Sequence[str], metrics: Sequence[str]) -> list[Row]:
    """Return the table rows of one task in the order of `methods`; a method that did not run there is left out."""
    accuracy, title = results.accuracy(task), results.task_title(task)
    rows = []
    for method in methods:
        by_metric = [pick(accuracy, metric, method) for metric in metrics]
        if any(by_metric):
            texts = (Cell(title), Cell(results.entry_title(method)), Cell("here"))
            cells = (
                Cell(
                    numbers["value"],
                    numbers["ci_low"],
                    numbers["ci_high"],
                    bold=bool(numbers["best"]),
                    dagger=near_best(numbers),
                )
                if numbers
                else Cell()
                for numbers in by_metric
            )
            rows.append(Row((*texts, *cells), group=title))
    return rows
