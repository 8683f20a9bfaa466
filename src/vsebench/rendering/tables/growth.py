"""Measured growth of an epoch's time: one row per method, one column per size."""

from typing import Any, ClassVar

from vsebench.rendering.growth import COLUMNS, NOT_MEASURED, NOTES, growth_cells, growth_of
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table


class Growth(TableKind):
    """The exponents of every method whose growth was measured."""

    needs: ClassVar[tuple[str, ...]] = ("scaling",)

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"growth": {}} if "scaling" in outline.files else {}

    def table(self, results: Results) -> Table:
        growth = growth_of(results)
        methods = [] if growth is None else results.methods_of(growth)
        rows = [Row((Cell(results.method_title(method)), *growth_cells(growth, method))) for method in methods]
        notes = NOTES if growth is not None else (NOT_MEASURED,)
        return Table((Column("method", "Method"), *COLUMNS), tuple(rows), "Growth of an epoch's time", notes=notes)
