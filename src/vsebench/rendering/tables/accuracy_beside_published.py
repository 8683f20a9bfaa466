"""A paper's table of accuracies: each printed row, followed by our values with intervals."""

from typing import Any

from vsebench.papers.base import Paper
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.published_vs_ours import NOTHING_OF_OURS, caption, compared, lines_of, notes_of_tasks, ours_of
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

NOTES = (
    "Here: mean over seeds with 95 % intervals over {units}; settings chosen on validation.",
    "Bold: our interval contains the published value.",
)
PERCENT = "The paper prints percentages; they are shown as shares."


class AccuracyBesidePublished(TableKind):
    """Methods by metrics on each of the paper's data sets; our values only where data and protocol are the same."""

    needs = ("comparison",)

    paper: PaperFile
    printed: str  # the table's name in the paper's CSV file
    note: str = ""  # a remark on the printed numbers

    def table(self, results: Results) -> Table:
        paper = Paper.read(self.paper)
        cells = [cell for cell in paper.printed(self.printed) if not cell.is_words and len(cell.row.split("/")) == 2]
        comparisons = compared(results, paper, self.printed)
        metrics = list(dict.fromkeys(cell.column for cell in cells))
        columns = [Column("dataset", "Data set", shown=False), Column("method", "Method"), Column("source", "Source")]
        columns += [Column(metric, metric_title(metric), "score", interval=True) for metric in metrics]
        rows = []
        for dataset, method in lines_of(cells):
            line, group = f"{dataset}/{method}", paper.task_title(dataset)
            published = {cell.column: cell.number for cell in cells if cell.row == line}
            texts = [Cell(group), Cell(paper.row_title(method)), Cell("published")]
            rows.append(Row((*texts, *(Cell(published.get(metric)) for metric in metrics)), group=group))
            for row, ours in ours_of(comparisons, line):
                texts = [Cell(group), Cell(results.method_title(row)), Cell("here")]
                rows.append(Row((*texts, *(our_cell(ours.get(metric)) for metric in metrics)), group=group))
        notes = [
            *([] if len(comparisons) else [NOTHING_OF_OURS]),
            *(note.format(units=results.units) for note in NOTES),
            *([self.note] if self.note else []),
        ]
        notes += [PERCENT] if any(cell.unit == "percent" for cell in cells) else []
        notes += notes_of_tasks(paper, cells)
        return Table(tuple(columns), tuple(rows), caption(paper, self.printed), notes=tuple(notes), fold=5)


def our_cell(ours: dict[str, Any] | None) -> Cell:
    """Return our value with its interval; `ours` is a row of COMPARISON, or None."""
    if ours is None:
        return Cell()
    return Cell(ours["ours"], ours["ci_low"], ours["ci_high"], bold=ours["verdict"] == "inside")
