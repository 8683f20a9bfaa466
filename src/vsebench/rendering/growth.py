"""How tables show the growth of a time with the sizes of the data: that of an epoch, or of scoring an image."""

import polars as pl

from vsebench.evaluation.growth import exponents
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column

SIZES = ("pairs", "labels", "factors")  # of an epoch
SCORING_SIZES = ("images", "terms")
FIT = (
    "seconds grow as this power of the size; least squares on logarithms. The interval is from the smallest to the "
    "largest exponent between neighbouring sizes, widened by a t-interval over repeats."
)
NOTES = (
    f"Exponent, of an epoch: {FIT}",
    "Measured on simulated data, at the start of training. Pairs grow with the images.",
)
SCORING_NOTES = (
    f"Exponent, of scoring all labels for an image: {FIT}",
    "Measured on simulated data, against the training images and the terms of a scored image, in batches on one core.",
)
NOT_MEASURED = "This run measures no growth (it has no key `scaling`)."


def columns(sizes: tuple[str, ...]) -> tuple[Column, ...]:
    """Return a column for the exponent of each size."""
    return tuple(Column(name, f"Exponent of\n{name}", "mean", interval=True) for name in sizes)


def growth_of(results: Results) -> pl.DataFrame | None:
    """Return the exponents of every method and size (`evaluation.growth.exponents`); None if the run has none."""
    return None if results.scaling is None else exponents(results.scaling)


def growth_cells(growth: pl.DataFrame | None, method: str, sizes: tuple[str, ...] = SIZES) -> list[Cell]:
    """Return a method's exponents with their intervals, as far as they were measured."""
    cells = []
    for size in sizes:
        found = pl.DataFrame() if growth is None else growth.filter(method=method, variable=size)
        cells.append(Cell(*found.select("exponent", "ci_low", "ci_high").row(0)) if len(found) else Cell())
    return cells
