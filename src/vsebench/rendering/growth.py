"""Growth exponents of the time per epoch, or of the time to score an image, with the sizes of the data."""

import polars as pl

from vsebench.evaluation.growth import exponents
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column

SIZES = ("pairs", "labels", "factors")  # the sizes that vary where epochs are timed
SCORING_SIZES = ("images", "terms")
FIT = (
    "seconds grow as this power of the size, fitted by least squares on logarithms. The interval ranges from the "
    "smallest to the largest exponent between neighbouring sizes, widened by a t-interval over repeats."
)
NOTES = (
    f"Exponent of the time per epoch: {FIT}",
    "Measured on simulated data, at the start of training. The number of pairs varies with the number of images.",
)
SCORING_NOTES = (
    f"Exponent of the time to score all labels for an image: {FIT}",
    "Measured on simulated data, against the number of training images and of terms per scored image, in batches on "
    "one core.",
)


def columns(sizes: tuple[str, ...]) -> tuple[Column, ...]:
    """Return one column per size for its exponent."""
    return tuple(Column(name, f"Exponent of\n{name}", "mean", interval=True) for name in sizes)


def growth_of(results: Results) -> pl.DataFrame | None:
    """Return the exponents of every method and size (`evaluation.growth.exponents`); None if not measured."""
    return None if results.scaling is None else exponents(results.scaling)


def growth_cells(growth: pl.DataFrame | None, method: str, sizes: tuple[str, ...] = SIZES) -> list[Cell]:
    """Return a method's exponents with their intervals; empty cells where not measured."""
    cells = []
    for size in sizes:
        exponent = pl.DataFrame() if growth is None else growth.filter(method=method, variable=size)
        cells.append(Cell(*exponent.select("exponent", "ci_low", "ci_high").row(0)) if len(exponent) else Cell())
    return cells
