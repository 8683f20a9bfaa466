"""Checks of memory and test times against a printed formula and the sizes of the data."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from vsebench.papers.audit.checks.counts import count
from vsebench.papers.audit.checks.times import seconds
from vsebench.papers.audit.findings import Finding, judge
from vsebench.papers.audit.formulas import SPACE, TERMS, TIME, Sizes, by_formula, sizes
from vsebench.papers.audit.printed import Interval, roughly, rounded
from vsebench.papers.published import SECONDS, PrintedCell, PrintedCells

UNITS = {"MB": 2**20, "GB": 2**30}
# Bytes per number; an entry of a sparse matrix also has an index of 4 bytes.
DENSE, SPARSE = (4, 8), (8, 12)
SLACK = Fraction(1, 10)  # measured times are not exactly proportional to the number of operations


def memory_by_formula(cells: PrintedCells) -> Iterator[Finding]:
    """Check printed memory against its printed formula.

    A number takes 4 or 8 bytes. An entry of a sparse matrix takes 4 bytes more, for its index. A GB is 2^30 bytes, and
    an MB is 2^20 bytes. A formula in O() has an unknown constant factor, so a mismatch is a contradiction only if
    the formula is an exact count.
    """
    for formula, measured in by_formula(cells, "space_complexity", "memory", SPACE):
        for cell in measured:
            size = sizes(cells, cell, formula)
            if size and cell.unit in UNITS:
                yield _judge_memory(formula, cell, size)


def _judge_memory(formula: PrintedCell, cell: PrintedCell, size: Sizes) -> Finding:
    each = SPARSE if "d_nz" in formula.value else DENSE
    values = {n: SPACE[formula.value](size) * n / UNITS[cell.unit] for n in each}
    fits = [n for n, value in values.items() if rounded(cell.value).meets(value)]
    used = fits[0] if fits else each[-1]
    rule = f"{formula.value} with {used} bytes for each entry" + ("" if fits else f", or {each[0]}")
    for name, term in list(TERMS.get(formula.value, {}).items())[:1] if not fits else ():
        alone = term(size) * used / UNITS[cell.unit]
        rule += f"; {name} alone with {used} bytes gives {alone.show(1)} {cell.unit}"
    condition = f"{formula.value} counts the stored numbers; a complexity does not state constant factors"
    return judge("memory by formula", cell, [formula], values[used], rule, condition=condition)


def one_rate(cells: PrintedCells) -> Iterator[Finding]:
    """Check that a method's test times on two data sets are proportional to the numbers of operations.

    The number of operations is the method's stated cost per image, times the number of test images. The times may
    deviate by 10 %, because they are measured.
    """
    for formula, measured in by_formula(cells, "time_complexity", "test_time", TIME):
        for small, large in combinations([cell for cell in measured if cell.unit in SECONDS], 2):
            work = [work_of(cells, cell, formula) for cell in (small, large)]
            if work[0] and work[1]:
                grown = seconds(small) * (work[1] / work[0]) / SECONDS[large.unit]
                bounds = Interval(grown.low * (1 - SLACK), grown.high * (1 + SLACK))
                rule = f"{small.value} {small.unit} x growth of {formula.value} x test images, within 10 %"
                condition = f"{formula.value} counts the operations; a complexity does not state constant factors"
                yield judge("one rate", large, [small, formula], bounds, rule, condition=condition)


def leaves(cells: PrintedCells) -> Iterator[Finding]:
    """Check that the printed leaf size is n / 2^p for some integer p.

    This is the number of images in a leaf if the n training images are halved p times.
    """
    for cell, images in cells.each("leaf_images", "train_images"):
        level = nearest_level(images, cell)
        yield judge("leaves", cell, [images], leaf(images, level), f"n / 2^{level}", roughly(cell.value))


def time_of_leaf(cells: PrintedCells) -> Iterator[Finding]:
    """Check that a search in one leaf takes a share (p + n / 2^p) / n of the time of the exact search.

    n is the number of training images, and p the number of halvings.
    """
    for cell, images, own in cells.each("leaf_images", "train_images", "test_time"):
        exact_search = cells.find(cell.paper, f"{cell.dataset}/knn", "test_time")
        if exact_search and {own.unit, exact_search.unit} <= set(SECONDS):
            level = nearest_level(images, cell)
            share = (leaf(images, level) + level) / count(images)
            time = seconds(exact_search) * share / SECONDS[own.unit]
            rule = f"(p + n / 2^p) / n of the exact search's time, p = {level}"
            condition = "both searches take the same time for each image that they compare"
            yield judge("time of a leaf", own, [exact_search, cell, images], time, rule, condition=condition)


def work_of(cells: PrintedCells, cell: PrintedCell, formula: PrintedCell) -> Interval | None:
    """Return the number of operations for a test set, up to a constant factor; None if a size is 0 or not printed."""
    size, images = sizes(cells, cell, formula), cells.find(cell.paper, cell.dataset, "test_images")
    work = TIME[formula.value](size) * count(images) if size and images else None
    return work if work and work.low > 0 else None


def leaf(images: PrintedCell, level: int) -> Interval:
    """Return the number of images in a leaf after `level` halvings."""
    return count(images) / Fraction(2**level)


def nearest_level(images: PrintedCell, cell: PrintedCell) -> int:
    """Return the number of halvings, at most 40, that gives the leaf size nearest to the printed size."""
    return min(range(41), key=lambda level: abs(float(leaf(images, level).low) - float(cell.value)))
