"""The outcome of a trial of reliability, which `python -m tests.reliability` prints and writes into a page."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Trial:
    """What a trial found.

    Attributes
    ----------
    summary : what was tried, with numbers
    headings, rows : the cells of a table
    failures : a line for each thing that went wrong
    """

    summary: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    failures: Sequence[str]

    @property
    def table(self) -> str:
        """The table in Markdown; whole numbers have commas between thousands."""
        lines = [self.headings, ["---"] * len(self.headings), *self.rows]
        return "\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines)


def cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
