"""The possible F1 of lists of k labels, given precision and recall, if all are means over images."""

from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from vsebench.papers.audit.printed import Interval

# The maximum number of labels per image in the linear program, more than any image has here.
MOST_LABELS = 200
SLACK = Fraction(1, 10**8)  # of the solver


@lru_cache(maxsize=256)  # two checks need the same rows
def f1_over_images(precision: Interval, recall: Interval, k: int) -> Interval | None:
    """Return the bounds of a mean F1 over images, given the mean precision and recall, all as shares.

    An image with n labels, h of them among its first k, has precision h / k, recall h / n and F1 2 h / (k + n). Any
    mixture of such images is possible, so a linear program gives the bounds. None: no mixture has these means.
    """
    from scipy.optimize import (
        linprog,
    )  # imported here because it takes a tenth of a second and Snakemake imports this module

    p, r, f1 = _images(k)
    ones = np.ones((1, len(f1)))
    rows = np.stack([p, -p, r, -r])
    limits = [float(end) for solution in (precision, recall) for end in (solution.high, -solution.low)]
    solutions = [linprog(sign * f1, A_ub=rows, b_ub=limits, A_eq=ones, b_eq=[1.0]) for sign in (1, -1)]
    if not all(solution.success for solution in solutions):
        return None
    least, most = solutions
    return Interval(Fraction(float(least.fun)) - SLACK, Fraction(-float(most.fun)) + SLACK)


@cache
def _images(k: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return precision, recall and F1 of every kind of image."""
    hits, labels = np.array([(h, n) for n in range(1, MOST_LABELS + 1) for h in range(min(k, n) + 1)]).T
    return hits / k, hits / labels, 2 * hits / (k + labels)
