"""How a time grows with a size: the exponent of a power law, and how well a printed cost describes the times."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit  # scipy.stats has the same and takes a second more to import

Values = NDArray[np.float64]


def exponents(scaling: pl.DataFrame) -> pl.DataFrame:
    """Fit seconds ~ size^exponent for each method and variable.

    Returns one row per method and variable: method, variable, exponent (least squares on logarithms, mean over the
    repeats), ci_low and ci_high. A time is no exact power of a size, so the bounds are those of the exponents between
    neighbouring sizes (means over the repeats), widened by a 95 % t-interval over the repeats, which is infinite if
    there is only one.
    """
    rows = []
    for (method, variable), group in scaling.group_by("method", "variable", maintain_order=True):
        repeats = [times.sort("size") for _, times in group.group_by("repeat", maintain_order=True)]
        sizes = np.log(repeats[0]["size"].to_numpy())
        logs = np.log([times["seconds"].to_numpy() for times in repeats])
        slopes = np.array([np.polyfit(sizes, own, 1)[0] for own in logs])
        between = (np.diff(logs, axis=1) / np.diff(sizes)).mean(axis=0)
        low, high = min(slopes.mean(), between.min()), max(slopes.mean(), between.max())
        half = half_width(slopes)
        rows.append((method, variable, slopes.mean(), low - half, high + half))
    return pl.DataFrame(rows, schema=["method", "variable", "exponent", "ci_low", "ci_high"], orient="row")


def largest_errors(times: pl.DataFrame, terms: Sequence[Mapping[Any, int]]) -> Values:
    """Fit a cost to the times of a method, and return the largest relative error of each repeat, (n_repeats,).

    The cost is a constant and the sum of the terms, each times a constant of its own, none below 0, chosen by least
    squares of relative errors in each repeat.

    Parameters
    ----------
    times : rows of `core.schemas.SCALING` of one method; the sizes are in its columns
    terms : products of powers: {"images": 1, "factors": 2} is the number of images times the square of the factors
    """
    from scipy.optimize import nnls

    found = []
    for _, own in times.group_by("repeat", maintain_order=True):
        products = [
            np.prod([own[size].to_numpy() ** float(power) for size, power in term.items()], axis=0) for term in terms
        ]
        columns = np.stack([np.ones(len(own)), *(product / product.max() for product in products)], axis=1)
        relative = columns / own["seconds"].to_numpy()[:, np.newaxis]
        constants, _ = nnls(relative, np.ones(len(own)))
        found.append(np.abs(relative @ constants - 1).max())
    return np.array(found)


def half_width(repeats: Values) -> float:
    """Return half of the 95 % t-interval of a mean over repeats; infinite if there is only one."""
    if len(repeats) < 2:
        return np.inf
    return float(stdtrit(len(repeats) - 1, 0.975) * repeats.std(ddof=1) / np.sqrt(len(repeats)))
