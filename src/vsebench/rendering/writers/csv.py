"""Write a table as CSV, for programs."""

import csv
import io

from vsebench.rendering.marks import split
from vsebench.rendering.table import Row, Table, Value


def to_csv(table: Table) -> str:
    """Return a table as CSV, with numbers in full precision.

    For a column with intervals, the columns `<key>_low` and `<key>_high` contain the bounds. If the table has marks, a
    last column `marks` gives their meanings in words.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [
        name
        for column in table.columns
        for name in ([column.key, f"{column.key}_low", f"{column.key}_high"] if column.interval else [column.key])
    ]
    of_rows = [marks_in_words(table, row) for row in table.rows]
    marked = any(of_rows)
    writer.writerow([*names, "marks"] if marked else names)
    for row, words in zip(table.rows, of_rows, strict=True):
        values: list[Value] = []
        for column, cell in zip(table.columns, row.cells, strict=True):
            value = split(cell.value)[0] if isinstance(cell.value, str) else cell.value
            value = f"{cell.bound} {value}" if cell.bound else value
            values += [value, cell.low, cell.high] if column.interval else [value]
        values += [words] if marked else []
        writer.writerow("" if value is None else value for value in values)
    return text.getvalue()


def marks_in_words(table: Table, row: Row) -> str:
    """Return the meanings of a row's marks; for a marked number, the column's name precedes the meanings."""
    texts = (split(cell.value)[1] for cell in row.cells if isinstance(cell.value, str))
    of_numbers = (
        f"{column.key}: {split(cell.marks)[1]}"
        for column, cell in zip(table.columns, row.cells, strict=True)
        if cell.marks
    )
    return "; ".join([*dict.fromkeys(filter(None, texts)), *of_numbers])
