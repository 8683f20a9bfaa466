"""The published cells, read from their CSV files (config/published/README.md)."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vsebench.core.errors import UserError

COLUMNS = ["paper", "table", "row", "column", "value", "unit", "protocol", "note"]
WORDS = ("formula", "text")  # units of cells that hold no number
NUMBER = re.compile(r"\d{1,30}(\.\d{1,30})?(e-\d{1,2})?", re.ASCII)
TEXT = "text"  # the table of numbers that stand only in the text


@dataclass(frozen=True)
class Cell:
    """One printed cell; `value` has the printed digits."""

    paper: str
    table: str
    row: str
    column: str
    value: str
    unit: str
    protocol: str
    note: str

    @property
    def dataset(self) -> str:
        return self.row.split("/")[0]

    @property
    def name(self) -> str:
        return f"{self.table} {self.row} {self.column}"

    @property
    def in_text(self) -> bool:
        return self.table == TEXT


@dataclass(frozen=True)
class Cells:
    """The cells of all papers that hold a number or a formula, in the order of print."""

    all: tuple[Cell, ...]

    @cached_property
    def _index(self) -> dict[tuple[str, str, str], list[Cell]]:
        index: dict[tuple[str, str, str], list[Cell]] = {}
        for cell in self.all:
            index.setdefault((cell.paper, cell.row, cell.column), []).append(cell)
        return index

    @property
    def papers(self) -> list[str]:
        return list(dict.fromkeys(cell.paper for cell in self.all))

    def numbers(self, column: str) -> Iterator[Cell]:
        """Yield the numbers whose column is described by a regular expression."""
        pattern = re.compile(column)
        return (cell for cell in self.all if cell.unit not in WORDS and pattern.fullmatch(cell.column))

    def prints(self, paper: str, row: str, column: str) -> list[Cell]:
        """Return every number that a paper prints under these names; what stands in a table comes first."""
        return [cell for cell in self._index.get((paper, row, column), []) if cell.unit not in WORDS]

    def find(self, paper: str, row: str, column: str, table: str | None = None) -> Cell | None:
        """Return the first of `prints`, if there is one; only those of a table, if it is given."""
        found = self.prints(paper, row, column)
        return next((cell for cell in found if table in (None, cell.table)), None)


def read_cells(paths: Iterable[Path]) -> Cells:
    """Read the published numbers, one file a paper.

    Raises
    ------
    UserError
        Where a file cannot be read, a line is not complete, a value is no number though its unit says so, or two lines
        name the same cell.
    """
    found: dict[tuple[str, str, str, str], Cell] = {}
    for path in paths:
        for where, cell in _lines(path):
            key = (cell.paper, cell.table, cell.row, cell.column)
            if key in found:
                raise UserError(f"{where}: the cell {' '.join(key)} is there already; each cell is one line")
            found[key] = cell
    return Cells(tuple(found.values()))


def _lines(path: Path) -> Iterator[tuple[str, Cell]]:
    """Yield the place and the cell of each line."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            if next(reader, None) != COLUMNS:
                raise UserError(f"{path}, line 1: the columns must be {','.join(COLUMNS)}")
            for fields in reader:
                where = f"{path}, line {reader.line_num}"
                yield where, _cell(where, fields)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a readable CSV file ({error})") from None


def _cell(where: str, fields: list[str]) -> Cell:
    if len(fields) != len(COLUMNS):
        raise UserError(f"{where}: {len(fields)} columns, but there must be {len(COLUMNS)}: {','.join(COLUMNS)}")
    cell = Cell(*fields)
    for column in COLUMNS[:-1]:
        if not getattr(cell, column):
            raise UserError(f"{where}, column {column}: is empty")
    if cell.unit not in WORDS and not NUMBER.fullmatch(cell.value):
        raise UserError(f"{where}, column value: {cell.value!r} is no plain number, but the unit is {cell.unit}")
    return cell
