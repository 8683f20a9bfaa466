"""Relations that hold where each image has one label; a paper says so by `labels_per_image` 1 of `all`.

Precision@k is then 1 / k for a label among the first k, and MAP the mean of 1 / rank.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import sqrt

from vsebench.papers.audit.checks.counts import count
from vsebench.papers.audit.checks.metrics import beside
from vsebench.papers.audit.findings import Finding, judge
from vsebench.papers.audit.printed import Interval, rounded
from vsebench.papers.published import PrintedCell, PrintedCells

Z = Fraction(196, 100)  # two-sided 95 % of a normal distribution


def first_of_ten(cells: PrintedCells) -> Iterator[Finding]:
    """Check Precision@1 <= 10 x Precision@10: the label at the first place is among the first ten."""
    for first, tenth in _precisions(cells):
        bounds = Interval(Fraction(0), (rounded(tenth.value) * 10).high)
        rule = "at most 10 x Precision@10, the share of labels in the first ten"
        yield judge("precision@1", first, [tenth], bounds, rule)


def map_of_one_label(cells: PrintedCells) -> Iterator[Finding]:
    """Check MAP: a label counts 1 at the first place, 1/2 to 1/10 among the first ten, at most 1/11 below them."""
    for first, tenth in _precisions(cells):
        cell = beside(cells, first, "map")
        if cell:
            one, ten = rounded(first.value), rounded(tenth.value) * 10
            all_images = 100 if cell.unit == "percent" else 1
            # Each number once, so that its rounding does not count twice.
            least = one * Fraction(9, 10) + ten * Fraction(1, 10)
            most = one * Fraction(1, 2) + ten * (Fraction(1, 2) - Fraction(1, 11)) + Fraction(all_images, 11)
            rule = "mean of 1 / rank: 1 at the first place, 1/10 to 1/2 at the next nine, up to 1/11 below"
            yield judge("MAP of one label", cell, [first, tenth], Interval(least.low, most.high), rule)


def beyond_chance(cells: PrintedCells) -> Iterator[Finding]:
    """Check that a table's precisions@1 differ from its best one by more than the test images' chance explains.

    The standard error is binomial; that the rows were tested on the same images would make it smaller. The chance of
    training is not in it.
    """
    groups: dict[tuple[str, str, str], list[PrintedCell]] = {}
    for cell in cells.numbers("precision@1"):
        if has_one_label(cells, cell) and not cell.in_text and cell.unit == "percent":
            groups.setdefault((cell.paper, cell.table, cell.dataset), []).append(cell)
    for (paper, _, dataset), found in groups.items():
        images = cells.find(paper, dataset, "test_images")
        best = max(found, key=lambda cell: cell.number)
        for cell in found:
            if images and cell.value != best.value:
                error = standard_error(cell.number, best.number, float(count(images).low))
                gap = Z * Fraction(100 * error)
                rule = f"below the best by more than 1.96 standard errors, {float(gap):.3f} points"
                below = Interval(Fraction(0), rounded(best.value).high - gap)
                yield judge("beyond chance", cell, [best, images], below, rule)


def standard_error(one: float, other: float, n: float) -> float:
    """Return the binomial standard error of the difference of two shares of n images each.

    >>> round(standard_error(0.04, 0.04, 840000), 6)
    0.000302
    """
    return sqrt((one * (1 - one) + other * (1 - other)) / n)


def _precisions(cells: PrintedCells) -> Iterator[tuple[PrintedCell, PrintedCell]]:
    """Yield Precision@1 and Precision@10 of each row that prints both."""
    for first in cells.numbers("precision@1"):
        tenth = beside(cells, first, "precision@10")
        if tenth and has_one_label(cells, first):
            yield first, tenth


def has_one_label(cells: PrintedCells, cell: PrintedCell) -> bool:
    """Return whether the cell's paper says that each image has one label."""
    found = cells.find(cell.paper, "all", "labels_per_image")
    return found is not None and found.value == "1"
