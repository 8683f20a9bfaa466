"""Write a table as LaTeX, for a paper."""

import re
from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from vsebench.rendering.marks import CASES, EDGE, EPOCHS, ITERATIONS
from vsebench.rendering.table import (
    DAGGER,
    Cell,
    Column,
    Form,
    Row,
    Table,
    format_cell,
    format_interval,
    format_value,
    spans,
)

# Approximate number of lines that fit on a LaTeX page; a longer table continues in another float.
PAGE_LINES = 44  # for notes of at most NOTE_LINES lines below the table
NOTE_LINES = 4
BLOCK_LINES = 3  # the heading of a block and the space around it
INTERVAL_LINES = 0.8
LINE_CHARACTERS = 75  # characters of text across the width of a page
LONG_TEXT = 16
LONG_HEADING = 70
HEADING_CHARACTERS = 110  # number of characters per line of a wrapped heading
# These settings apply only inside the float: keep numbers bold, and group only digits before the point.
SIUNITX = "\\sisetup{detect-weight=true,group-digits=integer,group-minimum-digits=4,group-separator={,}}"
INTERVALS = "\\providecommand{\\vseintervals}[2]{#1}"


def to_latex(table: Table, label: str) -> str:
    r"""Return a table as one or more LaTeX floats; the first float has the label.

    The floats need the packages booktabs and siunitx. A float spans both columns of a two-column page; on a one-column
    page, `table*` is the same as `table`. A long table becomes several floats, because LaTeX does not allow longtable
    on two-column pages.

    To hide the intervals, put `\newcommand{\vseintervals}[2]{#2}` before the table.
    """
    floats: list[str] = []
    for blocks in _floats_of_blocks(table):
        floats += (_float(table, groups, blocks, "" if floats else label) for groups in _pages(table, len(blocks)))
    intervals = [INTERVALS] if any(map(has_interval, table.rows)) else []
    return "\n".join([*intervals, *floats])


def _floats_of_blocks(table: Table) -> list[list[list[int]]]:
    """Return lists of blocks of columns; the blocks in one list share their floats.

    As many blocks share a float as fit on a page with all rows, so that the float shows all methods. If even a single
    block with all rows does not fit on a page, each block has its own floats.
    """
    blocks = _blocks(table)
    fitting = [number for number in range(1, len(blocks) + 1) if len(_pages(table, number)) == 1]
    size = max(fitting, default=1)
    return [blocks[start : start + size] for start in range(0, len(blocks), size)]


def _pages(table: Table, blocks: int) -> list[list[tuple[str, list[Row]]]]:
    """Return the groups of rows in each float, for floats that contain `blocks` blocks of columns.

    Each float fits on a page. A group is split only if it does not fit on a page.
    """
    notes = max(0, ceil(len(" ".join(_notes(table))) / HEADING_CHARACTERS) - NOTE_LINES)
    available = (PAGE_LINES - notes - BLOCK_LINES * (blocks - 1)) / blocks
    pages: list[list[tuple[str, list[Row]]]] = [[]]
    used = 0.0
    for heading, rows in _pieces(table, available):
        height = _heading_lines(heading) + _height(table, rows)
        if pages[-1] and used + height > available:
            pages.append([])
            used = 0
        pages[-1].append((heading, rows))
        used += height
    return pages


def _pieces(table: Table, available: float) -> Iterator[tuple[str, list[Row]]]:
    """Yield the heading and the rows of each group, and split groups that are higher than `available` lines."""
    for heading, rows in table.groups:
        above = _heading_lines(heading + " (continued)")
        if above + _height(table, rows) <= available:
            yield heading, rows
            continue
        continued = ""
        for piece in _filled(table, rows, available - above):
            yield heading + continued, piece
            continued = " (continued)" if heading else ""


def _filled(table: Table, rows: list[Row], available: float) -> Iterator[list[Row]]:
    """Split rows into pieces that are at most `available` lines high.

    A piece has at least one row, even if this row is higher. Oracles at the end stay with the row above them.
    """
    piece: list[Row] = []
    for index, row in enumerate(rows):
        alone = all(row.apart for row in rows[index:])
        if piece and not alone and _height(table, [*piece, row]) > available:
            yield piece
            piece = []
        piece.append(row)
    yield piece


def _heading_lines(heading: str) -> int:
    """Return the number of lines of a group's heading, or of the rule that replaces it."""
    return max(1, ceil(len(heading) / HEADING_CHARACTERS))


def _height(table: Table, rows: list[Row]) -> float:
    """Return the height of rows as a number of lines, with wrapped texts and intervals."""
    return sum(_wrapped(table, row) + (INTERVAL_LINES if has_interval(row) else 0) for row in rows)


def _wrapped(table: Table, row: Row) -> int:
    """Return the number of lines that the longest text of a row takes in its column."""
    columns = [(column, cell) for column, cell in zip(table.columns, row.cells, strict=True) if column.shown]
    texts = ((len(format_value(cell.value, column.form)), column.width) for column, cell in columns if column.width)
    return max((ceil(length / (width * LINE_CHARACTERS)) for length, width in texts if length), default=1)


def has_interval(row: Row) -> bool:
    return any(cell.low is not None for cell in row.cells)


def _float(table: Table, groups: list[tuple[str, list[Row]]], blocks: list[list[int]], label: str) -> str:
    """Return the source of one float; if `label` is empty, the float continues the previous one."""
    continued = not label
    caption = escape_latex(table.caption) + (" (continued)" if continued else "")
    lines = [
        *(["\\addtocounter{table}{-1}"] if continued else []),
        "\\begin{table*}" + ("[p]" if continued else "[tbp]"),
        "\\centering",
        f"\\caption{{{caption}}}" + (f"\\label{{{label}}}" if label else ""),
        "\\scriptsize" if table.small else "\\footnotesize",
        f"\\setlength{{\\tabcolsep}}{{{2 if table.small else 3}pt}}",
        SIUNITX,
        "\\smallskip\\par\\medskip\n".join(_tabular(table, groups, block) for block in blocks) + "\\par",
    ]
    if notes_below := _notes(table):
        notes = " ".join(escape_latex(note if note.endswith(".") else f"{note}.") for note in notes_below)
        lines += ["\\smallskip", f"\\begin{{minipage}}{{\\linewidth}}\\footnotesize {notes}\\end{{minipage}}"]
    return "\n".join([*lines, "\\end{table*}", ""])


def _notes(table: Table) -> list[str]:
    """Return the notes of a table, with a note on the intervals if narrow columns leave them out."""
    left_out = any(column.narrow and column.interval for column in table.columns)
    return [*table.notes, *(["The intervals are left out here; the CSV file contains them."] if left_out else [])]


def _blocks(table: Table) -> list[list[int]]:
    """Return the indices of the columns in each block.

    Each block contains some of the columns of numbers, and all columns of text.
    """
    text = [index for index in table.shown if table.columns[index].is_text]
    numbers = [index for index in table.shown if not table.columns[index].is_text]
    if table.fold is None or len(numbers) <= table.fold:
        return [table.shown]
    n_blocks = -(-len(numbers) // table.fold)
    size = -(-len(numbers) // n_blocks)  # for blocks of about the same size
    return [text + numbers[start : start + size] for start in range(0, len(numbers), size)]


def _tabular(table: Table, groups: list[tuple[str, list[Row]]], indices: list[int]) -> str:
    columns = [table.columns[index] for index in indices]
    alignment = "".join(_alignment(table, index) for index in indices)
    lines = [f"\\begin{{tabular}}{{@{{}}{alignment}@{{}}}}", "\\toprule", _heading(columns), "\\midrule"]
    broken = any(map(has_interval, table.rows))
    for number, (heading, rows) in enumerate(groups):
        if number:
            lines.append("\\midrule")
        if heading:
            # Wrap long headings only, so that a short heading does not widen the table.
            kind = "p{0.95\\linewidth}" if len(heading) > LONG_HEADING else "l"
            lines.append(f"\\multicolumn{{{len(columns)}}}{{@{{}}{kind}}}{{\\textit{{{escape_latex(heading)}}}}} \\\\")
        for index, row in enumerate(rows):
            if row.apart and index:
                lines.append("\\midrule")
            lines += _latex_rows(columns, [row.cells[column_index] for column_index in indices], broken)
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


def _alignment(table: Table, index: int) -> str:
    """Return the LaTeX type of a column: text, wrapped text, or numbers that are aligned at the point."""
    column = table.columns[index]
    if column.is_text:
        wrapped = f">{{\\raggedright\\arraybackslash}}p{{{column.width}\\linewidth}}"
        return wrapped if column.width else "l"
    texts = (_number(row.cells[index], column.form) for row in table.rows)
    parts = [text.removeprefix("-").partition(".") for text in texts if text]
    before = max((len(part[0]) for part in parts), default=1)
    after = max((len(part[2]) for part in parts), default=0)
    sign = "-" if any(isinstance(value := row.cells[index].value, float) and value < 0 for row in table.rows) else ""
    return f"S[table-format={sign}{before}.{after}]"


def _number(cell: Cell, form: Form) -> str:
    """Return a cell's number as siunitx reads it, or an empty text if the cell shows no plain number.

    >>> _number(Cell(1234.5), "seconds"), _number(Cell(0.00001), "p"), _number(Cell(), "score")
    ('1230', '', '')
    """
    text = format_cell(replace(cell, bound="", marks=""), form).replace(",", "")
    return text if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) else ""


def _heading(columns: list[Column]) -> str:
    """Return the headings of columns as LaTeX lines; short headings have empty lines above them."""
    words = [[escape_latex(line) for line in column.title.split("\n")] for column in columns]
    height = max(len(lines) for lines in words)
    padded = [[""] * (height - len(lines)) + lines for lines in words]
    # siunitx requires braces around text in a column of numbers.
    braced = [
        lines if column.is_text else [f"{{{line}}}" if line else "" for line in lines]
        for column, lines in zip(columns, padded, strict=True)
    ]
    return "\n".join(" & ".join(lines[n] for lines in braced) + " \\\\" for n in range(height))


def _latex_rows(columns: list[Column], cells: list[Cell], broken: bool) -> list[str]:
    """Return one or two lines of LaTeX for a row of a table.

    The first line contains the values. If there are intervals, a second line contains them. If `broken` is true, the
    second line also contains the ends of long texts.
    """
    above: list[str] = []
    ends: list[str] = []
    intervals: list[str] = []
    for column, cell in zip(columns, cells, strict=True):
        start, end = format_value(cell.value, column.form), ""
        if column.is_text and broken and not column.width:
            start, end = _in_two(start)
        if column.form in ("words", "pictures"):
            above.append(_words(start))
        else:
            above.append(_text(start, column) if column.is_text else _latex_number(cell, column.form))
        ends.append(escape_latex(end))
        intervals.append("" if column.narrow else _latex_interval(cell, column.form))
    first = " & ".join(above) + " \\\\"
    if not any(ends) and not any(intervals):
        return [first]
    if not any(ends):
        return [first, f"\\vseintervals{{\\noalign{{\\vskip-2pt}}{' & '.join(intervals)} \\\\}}{{}}"]
    optional = [f"\\vseintervals{{{interval}}}{{}}" if interval else "" for interval in intervals]
    below = [end or interval for end, interval in zip(ends, optional, strict=True)]
    return [first, f"\\noalign{{\\vskip-2pt}}{' & '.join(below)} \\\\"]


def _text(text: str, column: Column) -> str:
    r"""Return a text as LaTeX; in a wrapped column, names can be broken after slashes and underscores.

    >>> print(_text("iapr/vse_fs", Column("cell", "Cell", width=0.2)))
    iapr/\allowbreak{}vse\_\allowbreak{}fs
    """
    source = escape_latex(text)
    return re.sub(r"(/|\\_)(?=\w)", r"\1\\allowbreak{}", source) if column.width else source


def _words(words: str) -> str:
    r"""Return LaTeX for a text of the form "words", in which asterisks mark bold and italic parts.

    >>> print(_words("**sky**, *cloud*"))
    \textbf{sky}, \textit{cloud}
    """
    commands = {"italic": "\\textit", "bold": "\\textbf"}
    parts = ((escape_latex(text), commands.get(face)) for text, face in spans(words))
    return "".join(f"{command}{{{text}}}" if command else text for text, command in parts)


def _in_two(text: str) -> tuple[str, str]:
    """Split a long text before its parenthesis, or near its middle if it has none.

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
    middle = min(spaces, key=lambda position: abs(position - len(text) / 2))
    return text[:middle], text[middle + 1 :]


def _latex_number(cell: Cell, form: Form) -> str:
    # The mark has no width, so that the digits stay aligned.
    dagger = "\\rlap{$^\\dagger$}" if cell.dagger else ""
    marks = dagger + (f"\\rlap{{{escape_latex(cell.marks)}}}" if cell.marks else "")
    number = "" if cell.bound else _number(cell, form)
    if number:
        return ("\\bfseries " if cell.bold else "") + number + (f"{{{marks}}}" if marks else "")
    value = escape_latex(format_cell(replace(cell, marks=""), form))
    value = f"\\textbf{{{value}}}" if cell.bold else value
    return f"{{{value}{marks}}}"


def _latex_interval(cell: Cell, form: Form) -> str:
    interval = format_interval(cell, form)
    interval = re.sub(r"\b0\.", ".", interval)  # without the zero, it is narrower
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
    EPOCHS: "$\\ddagger$",
    ITERATIONS: "\\S{}",
    EDGE: "\\P{}",
    CASES: "$\\|$",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def escape_latex(text: str) -> str:
    r"""Return LaTeX source that prints a text unchanged.

    >>> print(escape_latex("50 % of a_b"))
    50 \% of a\_b
    """
    return "".join(_LATEX.get(character, character) for character in text)
