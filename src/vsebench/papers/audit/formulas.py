"""Printed complexities of time and memory, such as O(Y d), and the sizes that occur in them.

n, Y and d are the numbers of training images, labels and features. d_nz is the mean number of non-zero features of an
image, and D is the dimension of the embedding.
"""

from collections.abc import Callable, Iterator

from vsebench.papers.audit.printed import Interval, exact
from vsebench.papers.published import PrintedCell, PrintedCells

Sizes = dict[str, Interval]
Growth = Callable[[Sizes], Interval]
SPACE: dict[str, Growth] = {
    "O(n d_nz)": lambda size: size["n"] * size["d_nz"],
    "O(n d)": lambda size: size["n"] * size["d"],
    "O(Y d)": lambda size: size["Y"] * size["d"],
    "O((Y + d) D)": lambda size: (size["Y"] + size["d"]) * size["D"],
}
TIME: dict[str, Growth] = {
    "O(n d_nz)": lambda size: size["n"] * size["d_nz"],
    "O(Y d_nz)": lambda size: size["Y"] * size["d_nz"],
    "O((Y + d_nz) D)": lambda size: (size["Y"] + size["d_nz"]) * size["D"],
}
# The terms of a sum, the larger term first; O() allows different constant factors.
TERMS: dict[str, dict[str, Growth]] = {
    "O((Y + d) D)": {"Y D": lambda size: size["Y"] * size["D"], "d D": lambda size: size["d"] * size["D"]}
}


def by_formula(
    cells: PrintedCells, formulas: str, column: str, known: dict[str, Growth]
) -> Iterator[tuple[PrintedCell, list[PrintedCell]]]:
    """Yield each printed formula that is in `known`, with the numbers of the same method in the same table.

    `formulas` is the column of the formulas, and `column` is the column of the numbers.
    """
    for formula in cells.words(formulas):
        if formula.value in known:
            where = (formula.paper, formula.table, formula.row)
            yield formula, [cell for cell in cells.numbers(column) if (cell.paper, cell.table, cell.method) == where]


def sizes(cells: PrintedCells, cell: PrintedCell, formula: PrintedCell, dimension: Interval | None = None) -> Sizes:
    """Return the sizes n, Y, d, d_nz and D for the data set of `cell` and the method of `formula`.

    D is the printed number of factors of the method or, if it is not printed, `dimension`. The result is empty if n, Y,
    d or d_nz is not printed, or if the formula contains D and D is unknown.
    """
    printed = {
        "n": cells.find(cell.paper, cell.dataset, "train_images"),
        "Y": cells.find(cell.paper, cell.dataset, "labels"),
        "d": cells.find(cell.paper, "all", "features"),
        "d_nz": cells.find(cell.paper, "all", "features_per_image"),
    }
    factors = cells.find(cell.paper, formula.row, "factors")
    dimension = exact(factors.value) if factors else dimension
    size = {key: exact(value.value) for key, value in printed.items() if value}
    if len(size) < len(printed) or (dimension is None and formula.value.endswith(" D)")):
        return {}
    return size | ({"D": dimension} if dimension else {})
