"""How tables show the growth of an epoch's time."""

import polars as pl

from vsebench.evaluation.growth import exponents
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column

SIZES = ("pairs", "labels", "factors")
COLUMNS = tuple(Column(name, f"Exponent of\n{name}", "mean", interval=True) for name in SIZES)
NOTES = (
    "Exponent: seconds per epoch grow as this power of the size; least squares on logarithms, 95 % t-intervals over "
    "repeats.",
    "Measured on simulated data, at the start of training. Pairs grow with the images.",
)
NOT_MEASURED = "This run measures no growth (it has no key `scaling`)."


def growth_of(results: Results) -> pl.DataFrame | None:
    """Return the exponents of every method and size (`evaluation.growth.exponents`); None if the run has none."""
    return None if results.scaling is None else exponents(results.scaling)


def growth_cells(growth: pl.DataFrame | None, method: str) -> list[Cell]:
    """Return a method's exponents with their intervals, as far as they were measured."""
    cells = []
    for size in SIZES:
        found = pl.DataFrame() if growth is None else growth.filter(method=method, variable=size)
        cells.append(Cell(*found.select("exponent", "ci_low", "ci_high").row(0)) if len(found) else Cell())
    return cells
