"""Show misprinted equations, as printed and as corrected."""

from pydantic import Field

from vsebench.core.yaml_files import Strict
from vsebench.papers.base import Paper
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table

COLUMNS = (
    Column("equation", "Equation", width=0.1),
    Column("printed", "Printed", width=0.34),
    Column("right", "Correct", width=0.46),
)
NOTES = ("Transcribed from the paper (printed), and derived by hand (correct). This table is the same in all runs.",)


class Equation(Strict):
    """A printed equation, or a sentence about an equation, with its correction."""

    equation: str  # the number of the equation
    printed: str
    right: str


class Equations(TableKind):
    """A table of a paper's misprinted equations, with one row per equation."""

    needs = ()

    paper: PaperFile
    equations: list[Equation] = Field(min_length=1)

    def table(self, results: Results) -> Table:
        rows = [Row.of(entry.equation, entry.printed, entry.right) for entry in self.equations]
        caption = f"{Paper.read(self.paper).title} paper: misprinted equations"
        return Table(COLUMNS, rows, caption, NOTES)
