"""Tables: their columns, rows and cells, and the formatting of values for the modules of `rendering/writers`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, Self

from vsebench.rendering.marks import meanings

Value = str | int | float | None
LITERAL = r"(?:[^*\\]|\\.)+"  # a text in which each asterisk is \*
Form = Literal["text", "words", "count", "mean", "score", "percent", "seconds", "mebibytes", "effect", "p", "pictures"]
Face = Literal["", "italic", "bold"]

MISSING = "\N{EN DASH}"
DAGGER = "†"


@dataclass(frozen=True)
class Cell:
    """A value with an optional interval from `low` to `high`.

    `bold` marks the best value. `dagger` marks values that are not significantly worse than the best. `bound` is "≥" or
    "≤" if the value is only a bound. `marks` are signs such as ‡, which `rendering/marks.py` defines.
    """

    value: Value = None
    low: float | None = None
    high: float | None = None
    bold: bool = False
    dagger: bool = False
    bound: str = ""
    marks: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a table. A column that is not `shown` is written only to the CSV file.

    Only LaTeX keeps a line break in the title. Without the break, a long heading would make a column of short numbers
    wider.
    """

    key: str  # the name of the column in the CSV file
    title: str
    form: Form = "text"  # how its values are written
    interval: bool = False  # the CSV file also contains the bounds, as <key>_low and <key>_high
    shown: bool = True
    narrow: bool = False  # LaTeX omits the intervals to save width
    width: float = 0.0  # LaTeX wraps text at this share of the line width

    @property
    def heading(self) -> str:
        return self.title.replace("\n", " ")

    @property
    def is_text(self) -> bool:
        return self.form in ("text", "words", "pictures")


@dataclass(frozen=True)
class Row:
    """A row of a table. Consecutive rows of one `group` share a heading; a row that is `apart` has a rule above it."""

    cells: Sequence[Cell]
    group: str = ""
    apart: bool = False

    @classmethod
    def of(cls, *cells: Cell | Value, group: str = "", apart: bool = False) -> Self:
        """Return a row of cells, in which a plain value stands for a cell with only this value."""
        return cls([cell if isinstance(cell, Cell) else Cell(cell) for cell in cells], group, apart)


@dataclass(frozen=True)
class Table:
    """A table. Every row has a cell for every column. Marks in the table, such as ‡, are explained in the notes."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str
    notes: Sequence[str] = ()
    fold: int | None = None  # LaTeX shows at most this number of numeric columns side by side, the rest below them
    small: bool = False  # LaTeX uses a smaller font, for a wide table that cannot be folded

    def __post_init__(self) -> None:
        texts = (f"{cell.value}{cell.marks}" for row in self.rows for cell in row.cells)
        new = [meaning for meaning in meanings([*texts, *self.notes]) if meaning not in self.notes]
        object.__setattr__(self, "notes", (*self.notes, *new))

    @property
    def shown(self) -> list[int]:
        """The indices of the shown columns."""
        return [index for index, column in enumerate(self.columns) if column.shown]

    def dataset_of(self, row: Row) -> str | None:
        """Return the value of the column `dataset_name` in a row; None if the table has no such column."""
        keys = [column.key for column in self.columns]
        name = row.cells[keys.index("dataset_name")].value if "dataset_name" in keys else None
        return None if name is None else str(name)

    def shortened(self, titles: Mapping[str, str]) -> "Table":
        """Return a copy of the table in which short titles replace titles in the text cells.

        `titles` maps titles to short titles. A title is replaced at the beginning of a cell, where marks may follow it.
        After a comma, the title of a decision is replaced too.
        """
        longest_first = sorted(titles, key=len, reverse=True)

        def short(value: Value) -> Value:
            if not isinstance(value, str):
                return value
            title = next((title for title in longest_first if value.startswith(title)), None)
            rest = value.removeprefix(title or "")
            if title is None or rest[:1].isalnum():
                return value
            before, separator, after = rest.partition(", ")
            return f"{titles[title]}{before}{separator}{short(after)}"

        rows = [replace(row, cells=[replace(cell, value=short(cell.value)) for cell in row.cells]) for row in self.rows]
        return replace(self, rows=rows)

    @property
    def groups(self) -> list[tuple[str, list[Row]]]:
        """Each heading with the rows below it; a table without headings has a single group with an empty heading."""
        return [(heading, list(rows)) for heading, rows in groupby(self.rows, key=lambda row: row.group)]


def format_value(value: Value, form: Form) -> str:
    """Return a value as text for readers.

    >>> format_value(0.43419, "score"), format_value(1234.5, "seconds"), format_value(0.00123456, "seconds")
    ('0.4342', '1,230', '0.00123')
    """
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    match form:
        case "count":
            # A mean of counts, such as 4.12 labels per image, has at most two decimals.
            return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}".rstrip("0").rstrip(".")
        case "mean":
            return f"{value:,.2f}"
        case "score":
            return f"{value:.4f}"
        case "percent":  # a share
            return f"{100 * value:.2f}"
        case "seconds":
            return _three_digits(value)
        case "mebibytes":
            return f"{value / 2**20:,.0f}" if value >= 10 * 2**20 else _three_digits(value / 2**20)
        case "effect":  # differences of metrics as well as ratios
            return _effect(value, 4 if abs(value) < 2 else 2)
        case "p":
            return "< 0.001" if value < 0.001 else f"{value:.3f}"
    return str(value)


def format_cell(cell: Cell, form: Form) -> str:
    """Return a cell's value and marks as text for readers, after ≥ or ≤ if the value is only a bound.

    >>> format_cell(Cell(60, bound="≥", marks="‡"), "count")
    '≥ 60‡'
    """
    sign = f"{cell.bound} " if cell.bound else ""
    return f"{sign}{_number(cell, cell.value, form)}{cell.marks}"


def spans(words: str) -> list[tuple[str, Face]]:
    r"""Split a text of the form "words" into its parts in italic, bold and plain type.

    In such a text, single asterisks enclose *italic* parts, and double asterisks enclose **bold** parts. An asterisk
    that belongs to the text is written as \*.

    >>> spans(r"**sky**, *cloud\*s*, sea")
    [('sky', 'bold'), (', ', ''), ('cloud*s', 'italic'), (', sea', '')]
    """
    parts: list[tuple[str, Face]] = []
    last = 0
    for match in re.finditer(rf"\\.|\*\*({LITERAL})\*\*|\*({LITERAL})\*", words):
        if match[1] or match[2]:
            parts += [(words[last : match.start()], ""), (match[1] or match[2], "bold" if match[1] else "italic")]
            last = match.end()
    parts.append((words[last:], ""))
    return [(re.sub(r"\\(.)", r"\1", text), face) for text, face in parts if text]


def literal(text: str) -> str:
    r"""Escape a text for the form "words", so that none of its characters is read as markup.

    >>> print(literal("*nsync"))
    \*nsync
    """
    return re.sub(r"([\\*])", r"\\\1", text)


def format_interval(cell: Cell, form: Form) -> str:
    """Return a cell's interval as text, or "" if the cell has no interval or is an effect that is known exactly.

    >>> format_interval(Cell(0.9722, 0.7406, 1.284), "effect"), format_interval(Cell(6.63, 6.63, 6.63), "effect")
    ('[0.7406, 1.2840]', '')
    >>> format_interval(Cell(148, 134.3, 161.7), "count"), format_interval(Cell(148.4, 134, 161.7), "count")
    ('[134, 162]', '[134.0, 161.7]')
    """
    if cell.low is None or cell.high is None or (form == "effect" and cell.low == cell.value == cell.high):
        return ""
    return f"[{_number(cell, cell.low, form)}, {_number(cell, cell.high, form)}]"


def _number(cell: Cell, value: Value, form: Form) -> str:
    """Return `value` (the cell's value or an end of its interval) as text.

    In effects and counts, the cell's value and both ends have the same number of decimals.
    """
    if form not in ("effect", "count") or not isinstance(value, float | int):
        return format_value(value, form)
    shown = [number for number in (cell.value, cell.low, cell.high) if isinstance(number, float | int)]
    if form == "effect":
        return _effect(value, 4 if max(map(abs, shown)) < 2 else 2)
    if cell.low is None or not isinstance(cell.value, float | int):
        return format_value(value, form)
    return f"{value:,.{int(cell.value != round(cell.value))}f}"  # one decimal if the cell's value is a mean


def _effect(value: float, decimals: int) -> str:
    """Return a number with a fixed number of decimals, or in a form such as 8.1e-7 if all digits would be 0."""
    if value and abs(value) < 0.5 * 10**-decimals:
        digits, exponent = f"{value:.1e}".split("e")
        return f"{digits}e{int(exponent)}"
    return f"{value:,.{decimals}f}"


def _three_digits(seconds: float) -> str:
    if seconds == 0:
        return "0"
    # This uses the exponent of the rounded number: 99.96 rounded to three digits gains a digit before the point.
    rounded = float(f"{seconds:.2e}")
    decimals = max(0, 2 - int(f"{rounded:e}".partition("e")[2]))
    return f"{rounded:,.{decimals}f}"
