"""Checks for data with one label per image.

The value 1 of `labels_per_image` in a paper's CSV file states that each image has one label. Precision@k of an image is
then 1 / k if the label is among the first k, and otherwise 0. MAP is the mean of 1 / (rank of the label).
"""

from collections.abc import Iterator
from fractions import Fraction
from math import sqrt

from vsebench.papers.audit.checks.counts import count
from vsebench.papers.audit.checks.metrics import same_row
from vsebench.papers.audit.findings import Finding, judge
from vsebench.papers.audit.printed import Interval, rounded
from vsebench.papers.published import PrintedCell, PrintedCells

Z = Fraction(196, 100)  # quantile of the normal distribution for two-sided 95 % intervals


def first_of_ten(cells: PrintedCells) -> Iterator[Finding]:
    """Check that Precision@1 is at most 10 times Precision@10, because the first label is among the first ten."""
    for first, tenth in _precisions(cells):
        bounds = Interval(Fraction(0), (rounded(tenth.value) * 10).high)
        rule = "at most 10 x Precision@10, the share of images with their label among the first ten"
        yield judge("precision@1", first, [tenth], bounds, rule)


def map_of_one_label(cells: PrintedCells) -> Iterator[Finding]:
    """Check that MAP is within the bounds that follow from Precision@1 and Precision@10.

    An image counts 1 if its label has rank 1, from 1/10 to 1/2 for ranks 2 to 10, and at most 1/11 for later ranks.
    """
    for first, tenth in _precisions(cells):
        cell = same_row(cells, first, "map")
        if cell:
            first_share, first_ten_share = rounded(first.value), rounded(tenth.value) * 10
            all_images = 100 if cell.unit == "percent" else 1
            # Each printed number occurs only once in a bound, so its rounding is not counted twice.
            least = first_share * Fraction(9, 10) + first_ten_share * Fraction(1, 10)
            most = (
                first_share * Fraction(1, 2)
                + first_ten_share * (Fraction(1, 2) - Fraction(1, 11))
                + Fraction(all_images, 11)
            )
            rule = "mean of 1 / rank: 1 at rank 1, 1/10 to 1/2 at ranks 2 to 10, up to 1/11 after these"
            yield judge("MAP of one label", cell, [first, tenth], Interval(least.low, most.high), rule)


def beyond_chance(cells: PrintedCells) -> Iterator[Finding]:
    """Check that each Precision@1 is below the best one in its table by more than 1.96 standard errors.

    The standard error is binomial. It ignores that both methods are tested on the same images, which makes it too
    large, and it ignores the randomness of training, which makes it too small.
    """
    groups: dict[tuple[str, str, str], list[PrintedCell]] = {}
    for cell in cells.numbers("precision@1"):
        if has_one_label(cells, cell) and not cell.in_text and cell.unit == "percent":
            groups.setdefault((cell.paper, cell.table, cell.dataset), []).append(cell)
    for (paper, _, dataset), group in groups.items():
        images = cells.find(paper, dataset, "test_images")
        best = max(group, key=lambda cell: cell.number)
        for cell in group:
            if images and cell.value != best.value:
                error = standard_error(cell.number, best.number, float(count(images).low))
                gap = Z * Fraction(100 * error)
                rule = f"below the best by more than 1.96 standard errors, {float(gap):.3f} points"
                below = Interval(Fraction(0), rounded(best.value).high - gap)
                condition = "the paper says that the best is better by more than chance"
                yield judge("beyond chance", cell, [best, images], below, rule, condition=condition)


def standard_error(first: float, second: float, n: float) -> float:
    """Return the binomial standard error of the difference of two shares of n images each.

    >>> round(standard_error(0.04, 0.04, 840000), 6)
    0.000302
    """
    return sqrt((first * (1 - first) + second * (1 - second)) / n)


def _precisions(cells: PrintedCells) -> Iterator[tuple[PrintedCell, PrintedCell]]:
    """Yield Precision@1 and Precision@10 of each row that prints both, for data with one label per image."""
    for first in cells.numbers("precision@1"):
        tenth = same_row(cells, first, "precision@10")
        if tenth and has_one_label(cells, first):
            yield first, tenth


def has_one_label(cells: PrintedCells, cell: PrintedCell) -> bool:
    """Return whether the cell's paper states that each image has one label."""
    mean = cells.find(cell.paper, "all", "labels_per_image")
    return mean is not None and mean.value == "1"
