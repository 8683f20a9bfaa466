"""Measure how run times grow with a size: fit the exponent of a power law, or the coefficients of a cost formula."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit  # importing scipy.stats takes a second longer

Values = NDArray[np.float64]


def exponents(scaling: pl.DataFrame) -> pl.DataFrame:
    """Fit seconds ~ size^exponent for each method and variable.

    The result has a row for each method and variable, with the columns method, variable, exponent, ci_low and ci_high.
    The exponent is fitted to the logarithms by least squares, and averaged over the repeats. Times do not grow
    exactly as a power of the size. Therefore an exponent is also computed for each pair of neighbouring sizes, as a
    mean over repeats. The bounds ci_low and ci_high are the smallest and the largest of these exponents, widened by the
    half-width of the 95 % t-interval of the fitted exponent over repeats. This half-width is infinite for one repeat.
    """
    rows = []
    for (method, variable), group in scaling.group_by("method", "variable", maintain_order=True):
        repeats = [times.sort("size") for _, times in group.group_by("repeat", maintain_order=True)]
        sizes = np.log(repeats[0]["size"].to_numpy())
        logs = np.log([times["seconds"].to_numpy() for times in repeats])
        slopes = np.array([np.polyfit(sizes, log_times, 1)[0] for log_times in logs])
        between = (np.diff(logs, axis=1) / np.diff(sizes)).mean(axis=0)
        low, high = min(slopes.mean(), between.min()), max(slopes.mean(), between.max())
        half = half_width(slopes)
        rows.append((method, variable, slopes.mean(), low - half, high + half))
    return pl.DataFrame(rows, schema=["method", "variable", "exponent", "ci_low", "ci_high"], orient="row")


def largest_errors(times: pl.DataFrame, terms: Sequence[Mapping[Any, int]]) -> Values:
    """Fit a cost formula to the times of each repeat, and return the largest relative error of each fit.

    The formula is a constant plus the sum of the terms, where each term is multiplied by a coefficient. The constant
    and the coefficients are non-negative numbers that minimise the sum of the squared relative errors. The result has
    shape (n_repeats,).

    Parameters
    ----------
    times : the rows of a method in the table `core.schemas.SCALING`, which contain the times and the sizes
    terms : products of powers: {"images": 1, "factors": 2} is the number of images times the squared number of factors
    """
    from scipy.optimize import nnls

    errors = []
    for _, of_repeat in times.group_by("repeat", maintain_order=True):
        products = [
            np.prod([of_repeat[size].to_numpy() ** float(power) for size, power in term.items()], axis=0)
            for term in terms
        ]
        columns = np.stack([np.ones(len(of_repeat)), *(product / product.max() for product in products)], axis=1)
        relative = columns / of_repeat["seconds"].to_numpy()[:, np.newaxis]
        constants, _ = nnls(relative, np.ones(len(of_repeat)))
        errors.append(np.abs(relative @ constants - 1).max())
    return np.array(errors)


def half_width(repeats: Values) -> float:
    """Return the half-width of the 95 % t-interval of a mean over repeats, or infinity for a single repeat."""
    if len(repeats) < 2:
        return np.inf
    return float(stdtrit(len(repeats) - 1, 0.975) * repeats.std(ddof=1) / np.sqrt(len(repeats)))
