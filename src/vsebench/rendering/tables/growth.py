"""Growth of the time per epoch, or of the time to score an image: one row per method, one column per size."""

from typing import Any

from vsebench.rendering.growth import (
    NOTES,
    SCORING_NOTES,
    SCORING_SIZES,
    SIZES,
    columns,
    growth_cells,
    growth_of,
)
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table


class Growth(TableKind):
    """The exponents of every method whose growth was measured."""

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
