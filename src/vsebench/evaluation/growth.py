"""How a time grows with a size: the exponent of a power law."""

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit  # scipy.stats has the same and takes a second more to import


def exponents(scaling: pl.DataFrame) -> pl.DataFrame:
    """Fit seconds ~ size^exponent for each method and variable.

    Returns one row per method and variable: method, variable, exponent (least squares on logarithms, mean over the
    repeats), ci_low and ci_high (95 %, Student's t over the repeats; infinite if there is only one repeat).
    """
    rows = []
    for (method, variable), group in scaling.group_by("method", "variable", maintain_order=True):
        repeats = [times.sort("size") for _, times in group.group_by("repeat", maintain_order=True)]
        slopes = np.array([_slope(times["size"].to_numpy(), times["seconds"].to_numpy()) for times in repeats])
        half = np.inf
        if len(slopes) > 1:
            half = stdtrit(len(slopes) - 1, 0.975) * slopes.std(ddof=1) / np.sqrt(len(slopes))
        rows.append((method, variable, slopes.mean(), slopes.mean() - half, slopes.mean() + half))
    return pl.DataFrame(rows, schema=["method", "variable", "exponent", "ci_low", "ci_high"], orient="row")


def _slope(sizes: NDArray[np.int64], seconds: NDArray[np.float64]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
