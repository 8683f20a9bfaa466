"""Memory and test times that follow from a printed formula and the sizes of the problem."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from math import inf

from vsebench.papers.audit.checks.counts import count
from vsebench.papers.audit.checks.times import SPACE, TERMS, problem_size, seconds
from vsebench.papers.audit.findings import Finding, find, judge
from vsebench.papers.audit.printed import Interval, exact, roughly, rounded
from vsebench.papers.published import SECONDS, PrintedCell, PrintedCells

BYTES_BY_FORMULA, ONE_RATE, LEAF, LEAF_TIME, ONE_SIZE = (
    "memory by formula", "one rate", "leaves", "time of a leaf", "one size",
)  # fmt: skip
UNITS = {"MB": 2**20, "GB": 2**30}
# Bytes of a number; an entry of a sparse matrix has its index (4 bytes) as well.
DENSE, SPARSE = (4, 8), (8, 12)
TIME: dict[str, Callable[[dict[str, Interval]], Interval]] = {
    "O(n d_nz)": lambda size: size["n"] * size["d_nz"],
    "O(Y d_nz)": lambda size: size["Y"] * size["d_nz"],
    "O((Y + d_nz) D)": lambda size: (size["Y"] + size["d_nz"]) * size["D"],
}
SLACK = Fraction(1, 10)  # a measured time is no exact multiple of the work


def memory_by_formula(cells: PrintedCells) -> Iterator[Finding]:
    """Check memory against its printed formula, with numbers of 4 or of 8 bytes; GB are 2^30 bytes, MB 2^20.

    A growth in O leaves constant factors open, so what does not fit contradicts only if the formula is a count.
    """
    for formula, cell in by_formula(cells, "space_complexity", "memory", set(SPACE)):
        size = sizes(cells, cell, formula)
        if size and cell.unit in UNITS:
            each = SPARSE if "d_nz" in formula.value else DENSE
            values = [SPACE[formula.value](size) * n / UNITS[cell.unit] for n in each]
            fits = [n for n, value in zip(each, values, strict=True) if rounded(cell.value).meets(value)]
            used = fits[0] if fits else each[-1]
            rule = f"{formula.value} with {used} bytes for each entry" + ("" if fits else f", or {each[0]}")
            condition = f"{formula.value} counts what is stored; as a growth it leaves constant factors open"
            for name, term in list(TERMS.get(formula.value, {}).items())[:1]:
                alone = term(size) * used / UNITS[cell.unit]
                condition += f", and {name} alone with {used} bytes gives {alone.show(1)} {cell.unit}"
            yield judge(BYTES_BY_FORMULA, cell, [formula], values[each.index(used)], rule, condition=condition)


def one_rate(cells: PrintedCells) -> Iterator[Finding]:
    """Check that a method's test time grows between two data sets as its formula times the test images.

    A time is measured, so 10 % more or less is allowed.
    """
    groups: dict[tuple[str, str], list[tuple[PrintedCell, PrintedCell]]] = {}
    for formula, cell in by_formula(cells, "time_complexity", "test_time", set(TIME)):
        if cell.unit in SECONDS:
            groups.setdefault((cell.paper, formula.row), []).append((formula, cell))
    for pairs in groups.values():
        for (formula, small), (_, large) in combinations(pairs, 2):
            work = [work_of(cells, cell, formula) for cell in (small, large)]
            if work[0] and work[1]:
                grown = seconds(small) * (work[1] / work[0]) / SECONDS[large.unit]
                bounds = Interval(grown.low * (1 - SLACK), grown.high * (1 + SLACK))
                rule = f"{small.value} {small.unit} x growth of {formula.value} x test images, give or take 10 %"
                yield judge(ONE_RATE, large, [small, formula], bounds, rule)


def leaves(cells: PrintedCells) -> Iterator[Finding]:
    """Check that a leaf of a tree with p levels of halves, n / 2^p images, has the printed size for a whole p."""
    for cell, images in cells.each("leaf_images", "train_images"):
        level = nearest_level(images, cell)
        yield judge(LEAF, cell, [images], leaf(images, level), f"n / 2^{level}", roughly(cell.value))


def time_of_leaf(cells: PrintedCells) -> Iterator[Finding]:
    """Check the test time of a search in one leaf: (p + n / 2^p) / n of the exact search's, at the same rate."""
    for cell, images, own in cells.each("leaf_images", "train_images", "test_time"):
        exact_search = cells.find(cell.paper, f"{cell.dataset}/knn", "test_time")
        if exact_search and {own.unit, exact_search.unit} <= set(SECONDS):
            level = nearest_level(images, cell)
            share = (leaf(images, level) + level) / count(images)
            time = seconds(exact_search) * share / SECONDS[own.unit]
            rule = f"(p + n / 2^p) / n of the exact search's, p = {level}"
            yield judge(LEAF_TIME, own, [exact_search, cell, images], time, rule)


def one_size(cells: PrintedCells) -> Iterator[Finding]:
    """Check that a method's accuracy and its cost are of models of one size: `factors` of a data set and of a row."""
    for cell, time in cells.each("factors", "test_time"):
        behind_cost = cells.find(cell.paper, cell.method, "factors")
        if behind_cost:
            times = float(cell.value) / float(behind_cost.value) if float(behind_cost.value) else inf
            rule = (
                f"the test time of {cell.dataset} is of this size; a model of the other one takes {times:.2g} times that "
                f"({times * float(time.value):.3g} {time.unit})"
            )
            equal = cell.value == behind_cost.value
            yield find(ONE_SIZE, [cell, behind_cost, time], cell.value, behind_cost.value, equal, rule)


def by_formula(
    cells: PrintedCells, formulas: str, column: str, known: set[str]
) -> Iterator[tuple[PrintedCell, PrintedCell]]:
    """Yield each printed formula of a table with the numbers that the same table prints of that method."""
    for formula in cells.all:
        if formula.column == formulas and formula.value in known:
            for cell in cells.numbers(column):
                same_table = (cell.paper, cell.table) == (formula.paper, formula.table)
                if same_table and cell.row == f"{cell.dataset}/{formula.row}":
                    yield formula, cell


def sizes(cells: PrintedCells, cell: PrintedCell, formula: PrintedCell) -> dict[str, Interval]:
    """Return the quantities of a formula; D is the row's printed `factors`. Nothing if one is not printed."""
    size = problem_size(cells, cell)
    factors = cells.find(cell.paper, formula.row, "factors")
    if not size or (factors is None and formula.value.endswith(" D)")):
        return {}
    return size | ({"D": exact(factors.value)} if factors else {})


def work_of(cells: PrintedCells, cell: PrintedCell, formula: PrintedCell) -> Interval | None:
    """Return the operations on a whole test set, up to a factor; None if a size is not printed or 0."""
    size, images = sizes(cells, cell, formula), cells.find(cell.paper, cell.dataset, "test_images")
    work = TIME[formula.value](size) * count(images) if size and images else None
    return work if work and work.low > 0 else None


def leaf(images: PrintedCell, level: int) -> Interval:
    """Return the images in a leaf after `level` halvings."""
    halved: Interval = count(images) / Fraction(2**level)
    return halved


def nearest_level(images: PrintedCell, cell: PrintedCell) -> int:
    """Return the number of halvings whose leaf is nearest to the printed size, at most 40."""
    return min(range(41), key=lambda level: abs(float(leaf(images, level).low) - float(cell.value)))
