"""What tables of accuracy share."""

from typing import Any

from vsebench.rendering.results import Results, near_best
from vsebench.rendering.table import Cell


def accuracy_cells(results: Results, found: dict[str, Any] | None) -> list[Cell]:
    """Return the cells of one row in one metric: the mean with its interval, and the p-value.

    Parameters
    ----------
    found : a row of `summary`, or None if there is none
    """
    if found is None:
        return [Cell(), Cell()]
    best = bool(found["best"]) and not results.is_oracle(found["method"])
    value = Cell(found["value"], found["ci_low"], found["ci_high"], bold=best, dagger=near_best(found))
    return [value, Cell(found["p_adjusted"])]
