"""A paper's table of complexities: each printed formula with the measured exponents."""

from vsebench.rendering.growth import NOTES, SIZES, columns, growth_cells, growth_of
from vsebench.rendering.outline import Outline
from vsebench.rendering.published_vs_ours import PrintedTable
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table


class Complexity(PrintedTable):
    """One row per printed formula, with the exponents of the first of our variants of the method."""

    needs = ("scaling",)

    def applies(self, outline: Outline) -> bool:
        paper, cells = self.read()
        ours = [variant for cell in cells if cell.row in paper.rows for variant in paper.rows[cell.row].ours[:1]]
        return "scaling" in outline.files and not set(ours).isdisjoint(outline.trained)

    def table(self, results: Results) -> Table:
        paper, cells = self.read()
        growth = growth_of(results)
        rows = []
        for cell in cells:
            ours = paper.rows[cell.row].ours if cell.row in paper.rows else []
            measured = growth_cells(growth, ours[0] if ours else "")
            rows.append(Row.of(paper.row_title(cell.row), cell.value, *measured))
        shown = (Column("method", "Method"), Column("published", "Published"), *columns(SIZES))
        return Table(shown, rows, self.caption(paper), NOTES, fold=5)
