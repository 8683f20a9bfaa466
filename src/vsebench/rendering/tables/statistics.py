"""A paper's table of data sets: the printed counts and those of our corresponding data sets."""

from vsebench.rendering.counts import has_dataset, our_count, our_dataset
from vsebench.rendering.outline import Outline
from vsebench.rendering.published_vs_ours import PrintedTable
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table

COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("quantity", "Quantity"),
    Column("published", "Published", "count"),
    Column("here", "Here", "count"),
    Column("ours", "Data here"),
)


class Statistics(PrintedTable):
    """One row per printed count; our count is empty where the run lacks the data set or the count."""

    needs = ("datasets", "metrics")

    def applies(self, outline: Outline) -> bool:
        return has_dataset(outline, *self.read())

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells = [cell for cell in printed if not cell.is_words]
        order = list(dict.fromkeys(cell.dataset for cell in cells))
        rows = []
        for cell in sorted(cells, key=lambda cell: order.index(cell.dataset)):
            entry, title = our_dataset(results, paper, cell.dataset), paper.task_title(cell.dataset)
            counts = (float(cell.value), our_count(results, paper, cell.dataset, cell.column))
            ours = str(entry["title"]) if entry else ""
            rows.append(Row.of(title, cell.column.replace("_", " "), *counts, ours, group=title))
        notes = (
            "Here: counts of the real data set in this run that corresponds to the paper's.",
            "For contradictions in the published column, see the audit of the papers.",
        )
        return Table(COLUMNS, rows, self.caption(paper), notes)
