"""A paper's table of accuracies: each printed row, followed by our values with intervals."""

from typing import Any

from vsebench.rendering.metrics import metric_title
from vsebench.rendering.published_vs_ours import (
    PrintedTable,
    lines_of,
    metrics_of_methods,
    notes_of_tasks,
    ours_of,
    printed_row,
)
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

NOTES = (
    "Here: mean over seeds with 95 % intervals over {units}.",
    "Bold: our interval contains the published value.",
)
PERCENT = "The paper prints percentages; they are shown as shares."


class AccuracyBesidePublished(PrintedTable):
    """Methods by metrics on each of the paper's data sets; our values only where data and protocol are the same."""

    needs = ("comparison",)

    note: str = ""  # a remark on the printed numbers

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells, comparisons = metrics_of_methods(printed), self.compared(results)
        metrics = list(dict.fromkeys(cell.column for cell in cells))
        columns = [Column("dataset", "Data set", shown=False), Column("method", "Method"), Column("source", "Source")]
        columns += [Column(metric, metric_title(metric), "score", interval=True) for metric in metrics]
        rows = []
        for dataset, method in lines_of(cells):
            line, group = f"{dataset}/{method}", paper.task_title(dataset)
            rows.append(printed_row(paper, cells, line, metrics))
            for variant, ours in ours_of(comparisons, line):
                values = (our_cell(ours.get(metric)) for metric in metrics)
                rows.append(Row.of(group, results.method_title(variant), "here", *values, group=group))
        notes = [note.format(units=results.units) for note in NOTES]
        notes += [self.note] if self.note else []
        notes += [PERCENT] if any(cell.unit == "percent" for cell in cells) else []
        notes += notes_of_tasks(paper, cells)
        return Table(columns, rows, self.caption(paper), notes, fold=5)


def our_cell(ours: dict[str, Any] | None) -> Cell:
    """Return our value with its interval; `ours` is a row of COMPARISON, or None."""
    if ours is None:
        return Cell()
    return Cell(ours["ours"], ours["ci_low"], ours["ci_high"], bold=ours["verdict"] == "inside")
