"""A paper's table of complexities: each printed formula with the measured exponents."""

from vsebench.rendering.growth import NOT_MEASURED, NOTES, SIZES, columns, growth_cells, growth_of
from vsebench.rendering.published_vs_ours import PrintedTable
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table


class Complexity(PrintedTable):
    """One row per printed formula, with the exponents of the first of our variants of the method."""

    needs = ("scaling",)

    def table(self, results: Results) -> Table:
        paper, cells = self.read()
        growth = growth_of(results)
        rows = []
        for cell in cells:
            ours = paper.rows[cell.row].ours if cell.row in paper.rows else []
            measured = growth_cells(growth, ours[0] if ours else "")
            rows.append(Row.of(paper.row_title(cell.row), cell.value, *measured))
        shown = (Column("method", "Method"), Column("published", "Published"), *columns(SIZES))
        notes = NOTES if growth is not None else (NOT_MEASURED, *NOTES)
        return Table(shown, rows, self.caption(paper), notes, fold=5)
