"""A table and how it is written: CSV for programs, Markdown and LaTeX for reading."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

Value = str | int | float | None
Kind = Literal["text", "count", "mean", "score", "seconds", "mebibytes", "effect", "p"]

MISSING = "\N{EN DASH}"
DAGGER = "†"
# A page of LaTeX holds about so many lines; a longer table is continued in another float.
PAGE_LINES = 46
BLOCK_LINES = 3  # of a block: its heading and the room around it
INTERVAL_LINES = 0.8
LONG_TEXT = 16
LONG_HEADING = 70
# Bold numbers stay bold, and only the digits before the point are grouped; it holds inside the float alone.
SIUNITX = "\\sisetup{detect-weight=true,group-digits=integer,group-minimum-digits=4,group-separator={,}}"
INTERVALS = "\\providecommand{\\vseintervals}[2]{#1}"


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
    width: float = 0.0  # LaTeX wraps text at this share of a line

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
    the same caption, so that nine metrics with their intervals fit the width of a page. `small` is for a wide table
    that cannot be folded.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str
    label: str
    notes: tuple[str, ...] = ()
    fold: int | None = None
    small: bool = False

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
        case "effect":  # differences of metrics as well as ratios
            return f"{value:,.{4 if abs(value) < 1 else 2}f}"
        case "p":
            return "< 0.001" if value < 0.001 else f"{value:.3f}"
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
    r"""Return one or more floats that need the packages booktabs and siunitx.

    `\newcommand{\vseintervals}[2]{#2}` before the table leaves the intervals out.
    """
    pages = _pages(table)
    floats = [_float(table, groups, continued=place > 0) for place, groups in enumerate(pages)]
    intervals = [INTERVALS] if any(map(has_interval, table.rows)) else []
    return "\n".join([*intervals, *floats])


def _pages(table: Table) -> list[list[tuple[str, list[Row]]]]:
    """Split the groups of rows into floats that fit a page; a group stays whole if it fits one."""
    blocks = len(_blocks(table))
    room = PAGE_LINES / blocks - BLOCK_LINES * (blocks - 1)
    pages: list[list[tuple[str, list[Row]]]] = [[]]
    used = 0.0
    for heading, rows in _pieces(table, room):
        height = 1 + sum(map(_lines, rows))
        if pages[-1] and used + height > room:
            pages.append([])
            used = 0
        pages[-1].append((heading, rows))
        used += height
    return pages


def _pieces(table: Table, room: float) -> Iterator[tuple[str, list[Row]]]:
    """Yield the groups, those that are higher than a page in pieces."""
    for heading, rows in table.groups:
        if 1 + sum(map(_lines, rows)) <= room:
            yield heading, rows
            continue
        size = int((room - 1) // max(map(_lines, rows)))
        for start in range(0, len(rows), size):
            continued = " (continued)" if start and heading else ""
            yield heading + continued, rows[start : start + size]


def _lines(row: Row) -> float:
    return 1 + INTERVAL_LINES if has_interval(row) else 1


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
        "\\scriptsize" if table.small else "\\footnotesize",
        f"\\setlength{{\\tabcolsep}}{{{2 if table.small else 3}pt}}",
        SIUNITX,
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
    if table.fold is None or len(numbers) <= table.fold:
        return [table.shown]
    n_blocks = -(-len(numbers) // table.fold)
    size = -(-len(numbers) // n_blocks)  # about the same number in each
    return [text + numbers[start : start + size] for start in range(0, len(numbers), size)]


def _tabular(table: Table, groups: list[tuple[str, list[Row]]], places: list[int]) -> str:
    columns = [table.columns[place] for place in places]
    alignment = "".join(_alignment(table, place) for place in places)
    lines = [f"\\begin{{tabular}}{{@{{}}{alignment}@{{}}}}", "\\toprule", _heading(columns), "\\midrule"]
    broken = any(map(has_interval, table.rows))
    for number, (heading, rows) in enumerate(groups):
        if number:
            lines.append("\\midrule")
        if heading:
            # A long heading is wrapped; a short one must not widen the table.
            kind = "p{0.95\\linewidth}" if len(heading) > LONG_HEADING else "l"
            lines.append(f"\\multicolumn{{{len(columns)}}}{{@{{}}{kind}}}{{\\textit{{{escape_latex(heading)}}}}} \\\\")
        for place, row in enumerate(rows):
            if row.apart and place:
                lines.append("\\midrule")
            lines += _latex_rows(columns, [row.cells[p] for p in places], broken)
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


def _alignment(table: Table, place: int) -> str:
    """Return a column's type: text, wrapped text, or numbers with so many digits before and after the point."""
    column = table.columns[place]
    if column.is_text:
        wrapped = f">{{\\raggedright\\arraybackslash}}p{{{column.width}\\linewidth}}"
        return wrapped if column.width else "l"
    texts = (_number(row.cells[place], column.kind) for row in table.rows)
    parts = [text.removeprefix("-").partition(".") for text in texts if text]
    before = max((len(part[0]) for part in parts), default=1)
    after = max((len(part[2]) for part in parts), default=0)
    sign = "-" if any(isinstance(value := row.cells[place].value, float) and value < 0 for row in table.rows) else ""
    return f"S[table-format={sign}{before}.{after}]"


def _number(cell: Cell, kind: Kind) -> str:
    """Return a number as siunitx reads it, or nothing if the cell has none.

    >>> _number(Cell(1234.5), "seconds"), _number(Cell(0.00001), "p"), _number(Cell(), "score")
    ('1230', '', '')
    """
    text = format_value(cell.value, kind).replace(",", "")
    return text if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) else ""


def _heading(columns: list[Column]) -> str:
    """Return the headings, on as many lines as the longest has."""
    words = [[escape_latex(line) for line in column.title.split("\n")] for column in columns]
    height = max(len(lines) for lines in words)
    padded = [[""] * (height - len(lines)) + lines for lines in words]
    # Braces: what is no number in a column of numbers.
    braced = [
        lines if column.is_text else [f"{{{line}}}" if line else "" for line in lines]
        for column, lines in zip(columns, padded, strict=True)
    ]
    return "\n".join(" & ".join(lines[n] for lines in braced) + " \\\\" for n in range(height))


def _latex_rows(columns: list[Column], cells: list[Cell], broken: bool) -> list[str]:
    """Return the values and, where needed, a second line with intervals and, if `broken`, the ends of long texts."""
    above: list[str] = []
    ends: list[str] = []
    intervals: list[str] = []
    for column, cell in zip(columns, cells, strict=True):
        start, end = format_value(cell.value, column.kind), ""
        if column.is_text and broken and not column.width:
            start, end = _in_two(start)
        above.append(escape_latex(start) if column.is_text else _latex_number(cell, column.kind))
        ends.append(escape_latex(end))
        intervals.append("" if column.narrow else _latex_interval(cell, column.kind))
    first = " & ".join(above) + " \\\\"
    if not any(ends) and not any(intervals):
        return [first]
    if not any(ends):
        return [first, f"\\vseintervals{{\\noalign{{\\vskip-2pt}}{' & '.join(intervals)} \\\\}}{{}}"]
    optional = [f"\\vseintervals{{{interval}}}{{}}" if interval else "" for interval in intervals]
    below = [end or interval for end, interval in zip(ends, optional, strict=True)]
    return [first, f"\\noalign{{\\vskip-2pt}}{' & '.join(below)} \\\\"]


def _in_two(text: str) -> tuple[str, str]:
    """Split a long text before its parenthesis, if it has one, or else near its middle.

    >>> _in_two("VSE-fs (published settings)"), _in_two("Oracle (ceiling)"), _in_two("Seconds to best epoch, ratio")
    (('VSE-fs', '(published settings)'), ('Oracle (ceiling)', ''), ('Seconds to best', 'epoch, ratio'))
    """
    if len(text) <= LONG_TEXT:
        return text, ""
    start, parenthesis, end = text.partition(" (")
    if parenthesis:
        return start, "(" + end
    spaces = [match.start() for match in re.finditer(" ", text)]
    if not spaces:
        return text, ""
    middle = min(spaces, key=lambda place: abs(place - len(text) / 2))
    return text[:middle], text[middle + 1 :]


def _latex_number(cell: Cell, kind: Kind) -> str:
    # The mark takes no room, so that the digits stay in line.
    dagger = "\\rlap{$^\\dagger$}" if cell.dagger else ""
    number = _number(cell, kind)
    if number:
        return ("\\bfseries " if cell.bold else "") + number + (f"{{{dagger}}}" if dagger else "")
    value = escape_latex(format_value(cell.value, kind))
    value = f"\\textbf{{{value}}}" if cell.bold else value
    return f"{{{value}{dagger}}}"


def _latex_interval(cell: Cell, kind: Kind) -> str:
    interval = format_interval(cell, kind)
    interval = re.sub(r"\b0\.", ".", interval)  # leading zeros only take room
    interval = interval.replace(", ", ",").replace("-", "$-$")
    return f"{{\\scriptsize {interval}}}" if interval else ""


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
