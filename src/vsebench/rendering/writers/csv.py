"""Write a table as CSV, for programs."""

import csv
import io

from vsebench.rendering.table import Table, Value


def to_csv(table: Table) -> str:
    """Return the table with full precision; an interval's bounds are in the columns `<key>_low` and `<key>_high`."""
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
