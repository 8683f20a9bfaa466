"""Numbers that are printed more than once."""

from collections.abc import Iterator
from itertools import combinations
from math import inf

from vsebench.papers.audit.checks.counts import count
from vsebench.papers.audit.findings import Finding, find, judge, names
from vsebench.papers.audit.printed import Interval, decimals, exact, roughly, rounded
from vsebench.papers.published import PrintedCell, PrintedCells

REPEATED, SHARED = "repeated", "same numbers"


def reading(cell: PrintedCell) -> Interval:
    """Return the unrounded values that a cell in a table or in the text can stand for."""
    if cell.at_least:
        return Interval(exact(cell.value).low, inf)
    if cell.unit == "count" and not cell.column.endswith("per_image"):  # a mean
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
            cut = cell.in_text and first.value.startswith(cell.value)
            condition = cell.condition
            if cut:
                condition = "the text rounds; these are the first digits of the number, with the others left out"
            yield judge(REPEATED, cell, [first], before, f"as in {first.table}", again, condition)


def readings(one: PrintedCell, other: PrintedCell) -> tuple[Interval, Interval]:
    """Return the values that two prints of a number can stand for; with as many decimals, digits must agree."""
    digits = {decimals(one.value), decimals(other.value)}
    if len(digits) == 1 and digits != {0}:
        return exact(one.value), exact(other.value)
    return reading(one), reading(other)


def shared_numbers(cells: PrintedCells) -> Iterator[Finding]:
    """Check that two papers with different numbers of factors do not print the same numbers for a method.

    Models of different size that agree in every digit of every metric are the same model.
    """
    for one, other in combinations(cells.papers, 2):
        factors = [cells.find(paper, "all", "factors") for paper in (one, other)]
        if not all(factors) or len({cell.value for cell in factors if cell}) == 1:
            continue
        for row in dict.fromkeys(
            cell.row for cell in cells.numbers(r".+@\d+") if cell.paper == one and cell.unit == "1"
        ):
            pairs = [
                (cell, again)
                for cell in cells.numbers(r".+@\d+")
                if (cell.paper, cell.row) == (one, row) and (again := cells.find(other, row, cell.column))
            ]
            if len(pairs) > 1:
                yield _shared(row, pairs, [cell for cell in factors if cell])


def _shared(row: str, pairs: list[tuple[PrintedCell, PrintedCell]], factors: list[PrintedCell]) -> Finding:
    equal = sum(cell.value == again.value for cell, again in pairs)
    first, second = pairs[0]
    metrics = f"{row} ({len(pairs)} metrics)"
    numbers = "these numbers" if equal == len(pairs) else "others"
    return find(
        SHARED,
        [second, first, *factors],
        published=f"k = {factors[1].value}",
        recomputed=f"{equal} of {len(pairs)} equal",
        agrees=equal < len(pairs),
        explanation=f"{first.paper} prints {numbers} with k = {factors[0].value}",
        summary=f"{second.table} {metrics}; {first.paper} {first.table} {metrics}; {names(factors[::-1])}",
    )
