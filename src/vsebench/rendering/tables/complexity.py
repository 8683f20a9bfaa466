"""A paper's table of complexities: each printed formula with the measured growth."""

from vsebench.papers.base import Paper
from vsebench.rendering.growth import NOT_MEASURED, NOTES, SIZES, columns, growth_cells, growth_of
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.published_vs_ours import caption
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table


class Complexity(TableKind):
    """One row per printed formula; the growth is that of the first of the run's variants of the method."""

    needs = ("scaling",)

    paper: PaperFile
    printed: str  # the table's name in the paper's CSV file

    def table(self, results: Results) -> Table:
        paper = Paper.read(self.paper)
        growth = growth_of(results)
        rows = []
        for cell in paper.printed(self.printed):
            ours = paper.rows[cell.row].ours if cell.row in paper.rows else []
            measured = growth_cells(growth, ours[0] if ours else "")
            rows.append(Row((Cell(paper.row_title(cell.row)), Cell(cell.value), *measured)))
        shown = (Column("method", "Method"), Column("published", "Published"), *columns(SIZES))
        notes = NOTES if growth is not None else (NOT_MEASURED, *NOTES)
        return Table(shown, tuple(rows), caption(paper, self.printed), notes=notes, fold=5)
