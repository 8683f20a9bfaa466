"""A paper's table of data sets: the printed counts and those of our corresponding data sets."""

from vsebench.papers.base import Paper
from vsebench.papers.published import PrintedCell
from vsebench.rendering.counts import our_count
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.published_vs_ours import caption
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("quantity", "Quantity"),
    Column("published", "Published", "count"),
    Column("here", "Here", "count"),
    Column("ours", "Data here"),
)


class Statistics(TableKind):
    """One row per printed count; our count is empty where the run lacks the data set or the count."""

    needs = ("datasets", "metrics")

    paper: PaperFile
    printed: str  # the table's name in the paper's CSV file

    def table(self, results: Results) -> Table:
        paper = Paper.read(self.paper)
        cells = [cell for cell in paper.printed(self.printed) if not cell.is_words]
        order = list(dict.fromkeys(cell.dataset for cell in cells))
        rows = [_row(paper, cell, results) for cell in sorted(cells, key=lambda cell: order.index(cell.dataset))]
        notes = (
            "Here: counts of the real data set in this run that corresponds to the paper's.",
            "For contradictions in the published column, see the audit of the papers.",
        )
        return Table(COLUMNS, tuple(rows), caption(paper, self.printed), notes=notes)


def _row(paper: Paper, cell: PrintedCell, results: Results) -> Row:
    task = paper.tasks.get(cell.dataset)
    entry = results.datasets.get(task.dataset) if task and task.dataset else None
    title = paper.task_title(cell.dataset)
    texts = [Cell(title), Cell(cell.column.replace("_", " "))]
    numbers = [Cell(float(cell.value)), Cell(our_count(results, paper, cell.dataset, cell.column))]
    return Row((*texts, *numbers, Cell(str(entry["title"]) if entry else "")), group=title)
