"""Rows of one paper under different names with the same accuracies: the same model, so that all cells must agree."""

from collections.abc import Iterator
from itertools import combinations

from vsebench.papers.audit.findings import Finding, judge
from vsebench.papers.audit.printed import exact
from vsebench.papers.published import PrintedCell, PrintedCells

ACCURACY = r"(sibling_)?(precision|recall|map|ndcg|auc|f1)(@\d+)?"
FEWEST = 2  # metrics that two rows must share


def same_cell_twice(cells: PrintedCells) -> Iterator[Finding]:
    """Check every metric that two rows share, if most of them are equal digit by digit: one model has one value."""
    rows: dict[tuple[str, str, str], dict[str, PrintedCell]] = {}
    for cell in cells.numbers(ACCURACY):
        if len(cell.row.split("/")) == 2 and not cell.in_text:
            rows.setdefault((cell.paper, cell.table, cell.row), {})[cell.column] = cell
    for (one, first), (other, second) in combinations(rows.items(), 2):
        if one[0] != other[0] or one[1] == other[1] or one[2] == other[2]:
            continue
        pairs = [(cell, second[metric]) for metric, cell in first.items() if metric in second]
        equal = sum((cell.value, cell.unit) == (again.value, again.unit) for cell, again in pairs)
        if first_data(first) == first_data(second) and len(pairs) >= FEWEST and 2 * equal > len(pairs):
            for cell, again in pairs:
                rule = f"{equal} of {len(pairs)} metrics of the two rows are equal, so they are one model"
                yield judge("same cell twice", again, [cell], exact(cell.value), rule, exact(again.value))


def first_data(row: dict[str, PrintedCell]) -> str:
    """Return the data set of a row."""
    return next(iter(row.values())).dataset
