"""Checks of numbers that are printed more than once, and of rows with equal numbers, which suggest the same model."""

import re
from collections.abc import Iterator
from itertools import combinations
from math import inf

from vsebench.papers.audit.checks.counts import count
from vsebench.papers.audit.findings import Finding, judge, names, report
from vsebench.papers.audit.printed import Interval, decimals, exact, roughly, rounded
from vsebench.papers.published import PrintedCell, PrintedCells

ACCURACY = r"(sibling_)?(precision|recall|map|ndcg|auc|f1)(@\d+)?"
FEWEST = 2  # minimum number of metrics that two rows must share


def reading(cell: PrintedCell) -> Interval:
    """Return the possible unrounded values of a cell in a table or in the text."""
    if cell.at_least:
        return Interval(exact(cell.value).low, inf)
    if cell.unit == "count" and not cell.column.endswith("per_image"):  # a number per image is a mean
        return count(cell)
    return roughly(cell.value) if cell.in_text else rounded(cell.value)


def repeated_numbers(cells: PrintedCells) -> Iterator[Finding]:
    """Check that a number has the same value wherever the paper prints it."""
    groups: dict[tuple[str, ...], list[PrintedCell]] = {}
    for cell in cells.all:
        if not cell.is_words:
            groups.setdefault((cell.paper, cell.row, cell.column, cell.unit), []).append(cell)
    for first, *others in groups.values():
        for cell in others:
            before, again = readings(first, cell)
            cut_off = "the text rounds the number; if it cuts off the last digits instead, the numbers agree"
            condition = cut_off if cell.in_text and first.value.startswith(cell.value) else ""
            yield judge("repeated", cell, [first], before, f"as in {place(first)}", again, condition)


def place(cell: PrintedCell) -> str:
    """Return where a cell is printed, in words, such as "table 4", "supplement table 1" or "the text"."""
    return "the text" if cell.in_text else re.sub(r"(?<=[a-z])(?=\d)", " ", cell.table.replace("_", " "))


def readings(first: PrintedCell, second: PrintedCell) -> tuple[Interval, Interval]:
    """Return the possible values of a number that is printed in two cells, one interval for each cell.

    If the printed numbers have equally many decimals, and at least one, they are taken as exact, so that all digits
    must agree. If not, each number may be rounded (see `reading`).
    """
    digits = {decimals(first.value), decimals(second.value)}
    if len(digits) == 1 and digits != {0}:
        return exact(first.value), exact(second.value)
    return reading(first), reading(second)


def shared_numbers(cells: PrintedCells) -> Iterator[Finding]:
    """Check that two papers that use different numbers of factors do not print the same results for a method.

    Models of different sizes rarely agree in every digit of every metric, so equal results suggest a single model.
    However, the number of factors in the second paper may apply only to its own method, and the paper may quote the
    results of the other methods.
    """
    factors = [cell for paper in cells.papers if (cell := cells.find(paper, "all", "factors"))]
    for first, second in combinations(factors, 2):
        rows: dict[str, list[tuple[PrintedCell, PrintedCell]]] = {}
        for cell in cells.numbers(r".+@\d+"):
            again = cells.find(second.paper, cell.row, cell.column)
            if cell.paper == first.paper and again and cell.unit == "1":
                rows.setdefault(cell.row, []).append((cell, again))
        for row, pairs in rows.items():
            if first.value != second.value and len(pairs) > 1:
                yield _shared(row, pairs, [first, second])


def _shared(row: str, pairs: list[tuple[PrintedCell, PrintedCell]], factors: list[PrintedCell]) -> Finding:
    equal = sum(cell.value == again.value for cell, again in pairs)
    first, second = pairs[0]
    metrics = f"{row} ({len(pairs)} metrics)"
    numbers = "these numbers" if equal == len(pairs) else "others"
    return report(
        "same numbers",
        [second, first, *factors],
        published=f"k = {factors[1].value}",
        recomputed=f"{equal} of {len(pairs)} equal",
        agrees=equal < len(pairs),
        explanation=f"{first.paper} prints {numbers} with k = {factors[0].value}",
        condition=f"k = {factors[1].value} holds for the baselines too, and the paper does not quote their numbers",
        summary=f"{second.table} {metrics}; {first.paper} {first.table} {metrics}; {names(factors[::-1])}",
    )


def same_cell_twice(cells: PrintedCells) -> Iterator[Finding]:
    """Check that all metrics of two rows are equal if most of them are equal in all digits.

    The rows are for the same data set, but they have different names and are in different tables of a paper. Equal
    metrics suggest that the rows show one model.
    """
    rows: dict[tuple[str, str, str], dict[str, PrintedCell]] = {}
    for cell in cells.numbers(ACCURACY):
        if len(cell.row.split("/")) == 2 and not cell.in_text:
            rows.setdefault((cell.paper, cell.table, cell.row), {})[cell.column] = cell
    for (first_key, first), (second_key, second) in combinations(rows.items(), 2):
        if first_key[0] != second_key[0] or first_key[1] == second_key[1] or first_key[2] == second_key[2]:
            continue
        pairs = [(cell, second[metric]) for metric, cell in first.items() if metric in second]
        equal = sum((cell.value, cell.unit) == (again.value, again.unit) for cell, again in pairs)
        if dataset_of(first) == dataset_of(second) and len(pairs) >= FEWEST and 2 * equal > len(pairs):
            for cell, again in pairs:
                rule = f"{equal} of {len(pairs)} metrics of the two rows are equal, so they are one model"
                condition = "the two rows are one model, as their equal numbers suggest"
                yield judge("same cell twice", again, [cell], exact(cell.value), rule, exact(again.value), condition)


def dataset_of(row: dict[str, PrintedCell]) -> str:
    return next(iter(row.values())).dataset
