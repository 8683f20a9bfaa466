"""A table and how it is written: CSV for programs, Markdown and LaTeX for reading."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

Value = str | int | float | None
Kind = Literal["text", "count", "mean", "score", "seconds", "mebibytes"]

MISSING = "\N{EN DASH}"
DAGGER = "†"
# A page of LaTeX holds about so many lines; a longer table is continued in another float.
PAGE_LINES = 46
LONG_TEXT = 18


@dataclass(frozen=True)
class Cell:
    """A value, perhaps with an interval; `bold` marks the best, `dagger` what is not significantly worse."""

    value: Value = None
    low: float | None = None
    high: float | None = None
    bold: bool = False
    dagger: bool = False


@dataclass(frozen=True)
class Column:
    """A column; one that is not `shown` is in the CSV alone, as are the interval's bounds as columns of their own.

    A line break in the title is kept in LaTeX, where a heading that is wider than its numbers costs width.
    """

    key: str
    title: str
    kind: Kind = "text"
    interval: bool = False
    shown: bool = True
    narrow: bool = False  # LaTeX leaves the interval out, where width is dear

    @property
    def heading(self) -> str:
        return self.title.replace("\n", " ")

    @property
    def is_text(self) -> bool:
        return self.kind == "text"


@dataclass(frozen=True)
class Row:
    """A row; consecutive rows of one `group` share a heading, and one that is `apart` has a rule above it."""

    cells: tuple[Cell, ...]
    group: str = ""
    apart: bool = False


@dataclass(frozen=True)
class Table:
    """A table. Every row has a cell for every column.

    `fold` puts at most so many columns of numbers side by side in LaTeX: the rest goes into a second block below, under
    the same caption, so that nine metrics with their intervals fit the width of a page.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str
    label: str
    notes: tuple[str, ...] = ()
    fold: int | None = None

    @property
    def shown(self) -> list[int]:
        """The positions of the columns that a reader sees."""
        return [place for place, column in enumerate(self.columns) if column.shown]

    @property
    def groups(self) -> list[tuple[str, list[Row]]]:
        """The rows by heading; one group without a heading if there are none."""
        return [(heading, list(rows)) for heading, rows in groupby(self.rows, key=lambda row: row.group)]


def format_value(value: Value, kind: Kind) -> str:
    """Return a value as a reader sees it.

    >>> format_value(0.43419, "score"), format_value(1234.5, "seconds"), format_value(0.00123456, "seconds")
    ('0.4342', '1,230', '0.00123')
    """
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    match kind:
        case "count":
            return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
        case "mean":
            return f"{value:,.2f}"
        case "score":
            return f"{value:.4f}"
        case "seconds":
            return _three_digits(value)
        case "mebibytes":
            return f"{value / 2**20:,.0f}"
    return str(value)


def format_interval(cell: Cell, kind: Kind) -> str:
    """Return a cell's interval, or nothing if it has none."""
    if cell.low is None or cell.high is None:
        return ""
    return f"[{format_value(cell.low, kind)}, {format_value(cell.high, kind)}]"


def _three_digits(seconds: float) -> str:
    if seconds == 0:
        return "0"
    # Through an exponent, since 99.96 rounds to three digits and gains one before the point.
    rounded = float(f"{seconds:.2e}")
    decimals = max(0, 2 - int(f"{rounded:e}".partition("e")[2]))
    return f"{rounded:,.{decimals}f}"


def to_csv(table: Table) -> str:
    """Return every number in full precision; an interval's bounds are the columns `<key>_low` and `<key>_high`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        name
        for column in table.columns
        for name in ([column.key, f"{column.key}_low", f"{column.key}_high"] if column.interval else [column.key])
    )
    for row in table.rows:
        values: list[Value] = []
        for column, cell in zip(table.columns, row.cells, strict=True):
            values += [cell.value, cell.low, cell.high] if column.interval else [cell.value]
        writer.writerow("" if value is None else value for value in values)
    return text.getvalue()


def to_markdown(table: Table) -> str:
    """Return a GitHub table with its caption above and its notes below."""
    columns = [table.columns[place] for place in table.shown]
    headings = [_escape_markdown(column.heading) for column in columns]
    rules = [":--" if column.is_text else "--:" for column in columns]
    grouped = any(row.group for row in table.rows)
    if grouped:
        headings, rules = ["", *headings], [":--", *rules]
    lines = [f"**{_escape_markdown(table.caption)}**", "", _bars(headings), _bars(rules)]
    for group, rows in table.groups:
        for place, row in enumerate(rows):
            cells = [_markdown_cell(row.cells[p], table.columns[p].kind) for p in table.shown]
            heading = _escape_markdown(group) if place == 0 else ""
            lines.append(_bars([heading, *cells] if grouped else cells))
    if table.notes:
        lines += ["", *(f"- {_escape_markdown(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def _bars(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown_cell(cell: Cell, kind: Kind) -> str:
    value = _escape_markdown(format_value(cell.value, kind))
    value = (f"**{value}**" if cell.bold else value) + (DAGGER if cell.dagger else "")
    interval = format_interval(cell, kind)
    return f"{value} {interval}" if interval else value


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_|<>])", r"\\\1", text)


def to_latex(table: Table) -> str:
    """Return one or more floats that need the package booktabs alone."""
    pages = _pages(table)
    return "\n".join(_float(table, groups, continued=place > 0) for place, groups in enumerate(pages))


def _pages(table: Table) -> list[list[tuple[str, list[Row]]]]:
    """Split the groups of rows into floats that fit a page; a group stays whole."""
    pages: list[list[tuple[str, list[Row]]]] = [[]]
    used = 0
    for group in table.groups:
        height = 1 + sum(2 if has_interval(row) else 1 for row in group[1])
        if pages[-1] and used + height > PAGE_LINES:
            pages.append([])
            used = 0
        pages[-1].append(group)
        used += height
    return pages


def has_interval(row: Row) -> bool:
    return any(cell.low is not None for cell in row.cells)


def _float(table: Table, groups: list[tuple[str, list[Row]]], continued: bool) -> str:
    caption = escape_latex(table.caption) + (" (continued)" if continued else "")
    label = f"\\label{{{table.label}}}" if not continued else ""
    lines = [
        *(["\\addtocounter{table}{-1}"] if continued else []),
        "\\begin{table}[p]" if continued else "\\begin{table}[tbp]",
        "\\centering",
        f"\\caption{{{caption}}}{label}",
        "\\footnotesize",
        "\\setlength{\\tabcolsep}{3pt}",
        "\\smallskip\\par\\medskip\n".join(_tabular(table, groups, block) for block in _blocks(table)) + "\\par",
    ]
    if table.notes:
        notes = " ".join(escape_latex(note) for note in table.notes)
        lines += ["\\smallskip", f"\\begin{{minipage}}{{\\linewidth}}\\footnotesize {notes}\\end{{minipage}}"]
    return "\n".join([*lines, "\\end{table}", ""])


def _blocks(table: Table) -> list[list[int]]:
    """Return the columns of each block; the columns of text stand in every block."""
    text = [place for place in table.shown if table.columns[place].is_text]
    numbers = [place for place in table.shown if not table.columns[place].is_text]
    size = table.fold or max(1, len(numbers))
    return [text + numbers[start : start + size] for start in range(0, len(numbers), size)] or [text]


def _tabular(table: Table, groups: list[tuple[str, list[Row]]], places: list[int]) -> str:
    columns = [table.columns[place] for place in places]
    alignment = "".join("l" if column.is_text else "r" for column in columns)
    lines = [f"\\begin{{tabular}}{{@{{}}{alignment}@{{}}}}", "\\toprule", _heading(columns), "\\midrule"]
    for number, (heading, rows) in enumerate(groups):
        if number:
            lines.append("\\midrule")
        if heading:
            lines.append(f"\\multicolumn{{{len(columns)}}}{{@{{}}l}}{{\\textit{{{escape_latex(heading)}}}}} \\\\")
        for place, row in enumerate(rows):
            if row.apart and place:
                lines.append("\\midrule")
            lines += _latex_rows(row, columns, [row.cells[p] for p in places])
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


def _heading(columns: list[Column]) -> str:
    """Return the headings, on as many lines as the longest has."""
    words = [column.title.split("\n") for column in columns]
    height = max(len(lines) for lines in words)
    padded = [[""] * (height - len(lines)) + lines for lines in words]
    return "\n".join(" & ".join(escape_latex(lines[n]) for lines in padded) + " \\\\" for n in range(height))


def _latex_rows(row: Row, columns: list[Column], cells: list[Cell]) -> list[str]:
    """Return the values and, if there are any intervals, a second line with them and with the ends of long texts."""
    above: list[str] = []
    below: list[str] = []
    double = has_interval(row)
    for column, cell in zip(columns, cells, strict=True):
        if column.is_text and double:
            start, end = _in_two(format_value(cell.value, column.kind))
            above.append(escape_latex(start))
            below.append(escape_latex(end))
        else:
            above.append(_latex_cell(cell, column.kind))
            below.append("" if column.narrow else _latex_interval(cell, column.kind))
    if not double:
        return [" & ".join(above) + " \\\\"]
    return [" & ".join(above) + " \\\\[-2pt]", " & ".join(below) + " \\\\"]


def _in_two(text: str) -> tuple[str, str]:
    """Split a long text before its parenthesis, if it has one.

    >>> _in_two("VSE-fs (published settings)"), _in_two("Oracle (ceiling)")
    (('VSE-fs', '(published settings)'), ('Oracle (ceiling)', ''))
    """
    start, parenthesis, end = text.partition(" (")
    return (start, "(" + end) if parenthesis and len(text) > LONG_TEXT else (text, "")


def _latex_cell(cell: Cell, kind: Kind) -> str:
    value = escape_latex(format_value(cell.value, kind))
    value = f"\\textbf{{{value}}}" if cell.bold else value
    # The mark takes no room, so that the digits stay in line.
    return value + ("\\rlap{$^\\dagger$}" if cell.dagger else "")


def _latex_interval(cell: Cell, kind: Kind) -> str:
    interval = format_interval(cell, kind)
    interval = re.sub(r"\b0\.", ".", interval)  # leading zeros only take room
    return f"{{\\scriptsize {interval.replace(', ', ',')}}}" if interval else ""


_LATEX = {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "\N{EN DASH}": "--",
    "\N{MULTIPLICATION SIGN}": "$\\times$",
    "≥": "$\\geq$",
    "≤": "$\\leq$",
    DAGGER: "$\\dagger$",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX prints as it stands.

    >>> print(escape_latex("50 % of a_b"))
    50 \% of a\_b
    """
    return "".join(_LATEX.get(character, character) for character in text)
