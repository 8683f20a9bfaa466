"""Write a table as Markdown, for reading on GitHub."""

import re
from collections.abc import Sequence

from vsebench.rendering.table import DAGGER, Cell, Form, Table, Value, format_cell, format_interval, format_value, spans


def to_markdown(table: Table) -> str:
    """Return a GitHub table with its caption above and its notes below."""
    columns = [table.columns[index] for index in table.shown]
    headings = [_escape_markdown(column.heading) for column in columns]
    rules = [":--" if column.is_text else "--:" for column in columns]
    grouped = any(row.group for row in table.rows)
    if grouped:
        headings, rules = ["", *headings], [":--", *rules]
    lines = [f"**{_escape_markdown(table.caption)}**", "", _bars(headings), _bars(rules)]
    for group, rows in table.groups:
        for index, row in enumerate(rows):
            cells = [_markdown_cell(row.cells[index], table.columns[index].form) for index in table.shown]
            heading = _escape_markdown(group) if index == 0 else ""
            lines.append(_bars([heading, *cells] if grouped else cells))
    if table.notes:
        lines += ["", *(f"- {_escape_markdown(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def _bars(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown_cell(cell: Cell, form: Form) -> str:
    value = _words(cell.value) if form in ("words", "pictures") else _escape_markdown(format_cell(cell, form))
    value = (f"**{value}**" if cell.bold else value) + (DAGGER if cell.dagger else "")
    interval = format_interval(cell, form)
    return f"{value} {interval}" if interval else value


def _words(value: Value) -> str:
    r"""Return Markdown for a text of the form "words", in which asterisks mark bold and italic parts.

    >>> print(_words("**sky_1**, *cloud*"))
    **sky\_1**, *cloud*
    """
    marks = {"": "", "italic": "*", "bold": "**"}
    parts = spans(format_value(value, "words"))
    return "".join(f"{marks[face]}{_escape_markdown(text)}{marks[face]}" for text, face in parts)


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_|<>])", r"\\\1", text)
