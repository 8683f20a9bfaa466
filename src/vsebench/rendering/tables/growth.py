"""Show how fast the time per epoch, or the time to score an image, grows with the sizes of the data.

An exponent e means that the time grows approximately as size^e.
"""

from typing import Any

import polars as pl

from vsebench.evaluation.growth import exponents
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.published_vs_ours import MEASURED, PrintedTable
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

SIZES = ("pairs", "labels", "factors")  # the sizes that vary if epochs are timed
SCORING_SIZES = ("images", "terms")
FIT = (
    "seconds grow as this power of the size, fitted by least squares on logarithms. The interval ranges from the "
    "smallest to the largest exponent between neighbouring sizes, widened by a t-interval over repeats."
)
NOTES = (
    f"Exponent of the time per epoch: {FIT}",
    "Measured on simulated data, at the start of training. More pairs (of an image and a label) also mean more images.",
)
SCORING_NOTES = (
    f"Exponent of the time to score all labels for an image: {FIT}",
    "Measured on simulated data, against the number of training images and the number of terms (non-zero features) per "
    "scored image, in batches on one core.",
)


def columns(sizes: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(Column(name, f"Exponent of\n{name}", "mean", interval=True) for name in sizes)


def growth_of(results: Results) -> pl.DataFrame | None:
    """Return the table of exponents (see `evaluation.growth.exponents`), or None if none were measured."""
    return None if results.scaling is None else exponents(results.scaling)


def growth_cells(growth: pl.DataFrame | None, method: str, sizes: tuple[str, ...] = SIZES) -> list[Cell]:
    """Return a cell for each of the `sizes`, with the method's exponent and its interval.

    A cell is empty if the exponent was not measured.
    """
    cells = []
    for size in sizes:
        exponent = pl.DataFrame() if growth is None else growth.filter(method=method, variable=size)
        cells.append(Cell(*exponent.select("exponent", "ci_low", "ci_high").row(0)) if len(exponent) else Cell())
    return cells


class Growth(TableKind):
    """A table of the exponents of every method whose growth was measured."""

    needs = ("scaling",)
    section = "training-time"
    position = 2

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"growth": {}} if "scaling" in outline.files else {}

    def table(self, results: Results) -> Table:
        growth = growth_of(results)
        scored = growth is not None and bool(growth["variable"].is_in(SCORING_SIZES).any())
        sizes, notes = (SCORING_SIZES, SCORING_NOTES) if scored else (SIZES, NOTES)
        methods = [] if growth is None else results.methods_of(growth)
        rows = [Row.of(results.method_title(method), *growth_cells(growth, method, sizes)) for method in methods]
        title = "Growth of the time to score an image" if scored else "Growth of the time per epoch"
        shown = (Column("method", "Method"), *columns(sizes))
        return Table(shown, rows, title, notes)


class Complexity(PrintedTable):
    """A table of printed complexity formulas beside the exponents of our first variant of each method."""

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
        return Table(shown, rows, self.caption(paper, MEASURED), NOTES, fold=5)
