"""The published numbers, read from CSV files (config/papers/README.md), and papers' statements about these numbers."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict

COLUMNS = ["paper", "table", "row", "column", "value", "unit", "protocol", "note"]
WORDS = ("formula", "text")  # units of cells that contain no number
SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 604800}  # unit of time -> seconds
NUMBER = re.compile(r"\d{1,30}(\.\d{1,30})?(e-\d{1,2})?", re.ASCII)
TEXT = "text"  # the table of numbers that occur only in the text


@dataclass(frozen=True)
class PrintedCell:
    """A printed cell; `value` contains the digits or the text as printed."""

    paper: str
    table: str
    row: str
    column: str
    value: str
    unit: str
    protocol: str
    note: str
    condition: str = ""  # condition under which the cell contradicts others, if its file states one
    at_least: bool = False  # whether the number is a lower bound

    @property
    def dataset(self) -> str:
        return self.row.split("/")[0]

    @property
    def method(self) -> str:
        """The part of `row` after the data set and the slash; empty if `row` has no slash."""
        return self.row.partition("/")[2]

    @property
    def name(self) -> str:
        return f"{self.table} {self.row} {self.column}"

    @property
    def in_text(self) -> bool:
        return self.table == TEXT

    @property
    def is_words(self) -> bool:
        return self.unit in WORDS

    @property
    def number(self) -> float:
        """The value in our units: times in seconds, percentages as shares."""
        return float(self.value) * self.scale

    @property
    def scale(self) -> float:
        """The factor that turns the value into seconds, or a percentage into a share."""
        return 0.01 if self.unit == "percent" else float(SECONDS.get(self.unit, 1))


class Statement(Strict):
    """A quoted sentence, the comparison that it states, and the compared numbers."""

    quotation: str
    where: str  # position in the paper, and remarks
    comparison: Literal["above", "curve", "near", "best", "faster"] = "above"
    # Method -> its rivals: `all` other methods, `baselines` (names that do not begin with the paper's name), or a list.
    rows: dict[str, Literal["all", "baselines"] | list[str]] = Field(min_length=1)
    metrics: list[str] | None = Field(default=None, min_length=1)  # columns; none: all metrics
    datasets: list[str] | None = Field(default=None, min_length=1)  # none: all
    protocol: str | None = None  # if given, only numbers of this protocol are compared
    # For what the paper claims this: all numbers, most numbers, or all data sets (then, the audit also lists data sets
    # for which the paper does not print the metric).
    quantifier: Literal["all", "most", "all_datasets"] = "all"
    condition: str = ""  # condition of a contradiction, to complete "contradicts only if ..."
    # rival -> the paper's own method with the same decision
    same_decision: dict[str, str] = Field(default_factory=dict)


class PrintedStatement(Statement):
    """A named statement of a paper."""

    table: ClassVar[str] = TEXT

    paper: str
    name: str

    @property
    def quoted(self) -> str:
        """The sentence with its position in the paper."""
        return f'"{self.quotation}" ({self.where})'

    def is_about(self, dataset: str, row: str) -> bool:
        """Return whether the statement is about the method `row` on this data set."""
        return row in self.rows and (self.datasets is None or dataset in self.datasets)

    def are_rivals(self, row: str, other: str) -> bool:
        """Return whether the statement compares the method `row` with the method `other`."""
        rivals = self.rows[row]
        if isinstance(rivals, list):
            return other in rivals
        return other != row and (rivals == "all" or not other.startswith(self.paper))


@dataclass(frozen=True)
class PrintedCells:
    """The printed cells (numbers, formulas and texts) of papers, and the papers' statements about them."""

    all: tuple[PrintedCell, ...]
    statements: tuple[PrintedStatement, ...] = ()
    # (paper, judged cell or statement) -> a name shared by all cells that state the same fact
    same_fact: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @cached_property
    def _index(self) -> dict[tuple[str, str, str], list[PrintedCell]]:
        index: dict[tuple[str, str, str], list[PrintedCell]] = {}
        for cell in self.all:
            index.setdefault((cell.paper, cell.row, cell.column), []).append(cell)
        return index

    @property
    def papers(self) -> list[str]:
        return list(dict.fromkeys(cell.paper for cell in self.all))

    def stated(self, comparison: str) -> Iterator[PrintedStatement]:
        """Yield the statements of one kind of comparison, such as "above"."""
        return (statement for statement in self.statements if statement.comparison == comparison)

    def numbers(self, column: str) -> Iterator[PrintedCell]:
        """Yield the cells with numbers in columns whose names match the regular expression `column`."""
        pattern = re.compile(column)
        return (cell for cell in self.all if not cell.is_words and pattern.fullmatch(cell.column))

    def words(self, column: str) -> Iterator[PrintedCell]:
        """Yield the cells with formulas or texts in columns whose names match the regular expression `column`."""
        pattern = re.compile(column)
        return (cell for cell in self.all if cell.is_words and pattern.fullmatch(cell.column))

    def prints(self, paper: str, row: str, column: str) -> list[PrintedCell]:
        """Return all numbers that a paper prints in cells with this row and column, in the order of the file."""
        return [cell for cell in self._index.get((paper, row, column), []) if not cell.is_words]

    def find(self, paper: str, row: str, column: str, table: str | None = None) -> PrintedCell | None:
        """Return the first number that `prints` finds, or None; if `table` is given, only this table is searched."""
        cells = self.prints(paper, row, column)
        return next((cell for cell in cells if table in (None, cell.table)), None)

    def each(self, column: str, *sources: str) -> Iterator[tuple[PrintedCell, ...]]:
        """Yield each number of a column, followed by its sources: one number from each column in `sources`.

        `column` is a regular expression. A source is searched first in the same row as the number, then in the row of
        the data set, and then in the row `all`. A number is left out if one of its sources is not found.
        """
        for cell in self.numbers(column):
            rows = (cell.row, cell.dataset, "all")
            source_cells = [
                next(filter(None, (self.find(cell.paper, row, source) for row in rows)), None) for source in sources
            ]
            if all(source_cells):
                yield (cell, *filter(None, source_cells))


def read_published(paths: Iterable[Path]) -> PrintedCells:
    """Read the published numbers, one file per paper; a mistake raises a `UserError` with file, line and column."""
    cells: dict[tuple[str, str, str, str], PrintedCell] = {}
    for path in paths:
        for where, cell in _lines(path):
            key = (cell.paper, cell.table, cell.row, cell.column)
            if key in cells:
                raise UserError(f"{where}: the cell {' '.join(key)} occurs twice; remove one of the two lines")
            cells[key] = cell
    return PrintedCells(tuple(cells.values()))


def _lines(path: Path) -> Iterator[tuple[str, PrintedCell]]:
    """Yield each line's position (file and line number) and the table cell in it."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            if next(reader, None) != COLUMNS:
                raise UserError(f"{path}, line 1: the columns must be {','.join(COLUMNS)}")
            for fields in reader:
                where = f"{path}, line {reader.line_num}"
                yield where, _cell(where, fields, path.stem)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; add it, with the numbers that the paper prints") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a readable CSV file ({error})") from None


def _cell(where: str, fields: list[str], paper: str) -> PrintedCell:
    if len(fields) != len(COLUMNS):
        raise UserError(f"{where}: has {len(fields)} columns, but there must be {len(COLUMNS)}: {','.join(COLUMNS)}")
    name, table, row, column, value, unit, protocol, note = fields
    cell = PrintedCell(name, table, row, column, value, unit, protocol, note)
    for column in COLUMNS[:-1]:
        if not getattr(cell, column):
            raise UserError(f"{where}, column {column}: is empty")
    if cell.paper != paper:
        raise UserError(f"{where}, column paper: is {cell.paper!r}, but the file belongs to the paper {paper!r}")
    if not cell.is_words and not NUMBER.fullmatch(cell.value):
        raise UserError(f"{where}, column value: {cell.value!r} is not a plain number, but the unit is {cell.unit}")
    return cell
