"""Cells shared by the tables of accuracy."""

from typing import Any

from vsebench.rendering.results import Results, near_best
from vsebench.rendering.table import Cell


def accuracy_cells(results: Results, numbers: dict[str, Any] | None) -> list[Cell]:
    """Return a method's cells for one metric: the mean with its interval, and the p-value.

    Parameters
    ----------
    numbers : a row of `summary`, or None if there is none
    """
    if numbers is None:
        return [Cell(), Cell()]
    best = bool(numbers["best"]) and not results.is_oracle(numbers["method"])
    value = Cell(numbers["value"], numbers["ci_low"], numbers["ci_high"], bold=best, dagger=near_best(numbers))
    return [value, Cell(numbers["p_adjusted"])]
