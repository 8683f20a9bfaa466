"""Estimate how much a comparison varies between seeds, with the help of all other comparisons on the task.

Two or three seeds say little about how much one comparison varies between seeds, but all comparisons on a task together
say more. A comparison's variance s^2, with d degrees of freedom, is raised towards the typical variance s_0^2 if it is
smaller than s_0^2. The more alike the variances of the comparisons are, the more s^2 is raised. The raised variance is

    v = max(s^2, (d_0 s_0^2 + d s^2) / (d_0 + d)),    with d_0 + d degrees of freedom.

s_0^2 is the mean of s^2 over the comparisons. d_0 is estimated from the spread of log s^2 (Smyth, Stat. Appl. Genet.
Mol. Biol. 3, 2004, Eq. 5 and section 6.2). Three things differ from that paper, so that fewer differences are called
significant:

- The paper estimates s_0^2 from the mean of log s^2, and this estimate is usually smaller than the mean of s^2.
- Here, v is never smaller than s^2.
- For M methods, d_0 + d is at most (M - 1) d, because only M - 1 of the M (M - 1) / 2 comparisons are independent. With
  two methods, v = s^2.

The same formula serves for a comparison over several tasks. There, s^2 is the variance between seeds of the mean over
the tasks. s_0^2 and d_0 are estimated from all pairs of the M methods that were run on every one of these tasks.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, zeta

Values = NDArray[np.float64]

NEWTON_STEPS = 60
NO_VARIANCE = 1e-24  # variances up to this are due to rounding alone: methods without randomness, on the same split


@dataclass(frozen=True)
class Typical:
    """The variance s_0^2 that comparisons on a task typically have, and the degrees of freedom d_0 of its estimate.

    For several tasks at once, `variance` and `freedom` are arrays with a number for each task.
    """

    variance: float | Values
    freedom: float | Values


ALONE = Typical(0.0, 0.0)  # no other comparison is known


def typical(variances: Values, freedom: int, n_methods: int) -> Typical:
    """Estimate the typical variance of comparisons.

    Parameters
    ----------
    variances : (n,), the variances of all comparisons on a task; values up to `NO_VARIANCE` are ignored
    freedom : the number of degrees of freedom of each variance
    n_methods : the number of compared methods
    """
    varying = variances[variances > NO_VARIANCE]
    most = (n_methods - 2) * freedom
    if len(varying) < 2 or most <= 0:
        return ALONE
    logs = np.log(varying) - digamma(freedom / 2) + np.log(freedom / 2)
    excess = float(logs.var(ddof=1) - trigamma(freedom / 2))
    if excess <= 0:
        return Typical(float(varying.mean()), float(most))
    return Typical(float(varying.mean()), min(2 * inverse_trigamma(excess), float(most)))


def moderated(variances: Values, freedom: int, of_task: Typical) -> tuple[Values, float | Values]:
    """Raise the variances of comparisons towards the typical variance.

    Variances up to `NO_VARIANCE` are not raised. The results are all variances, (n,), and their degrees of freedom.
    """
    total = of_task.freedom + freedom
    drawn = np.maximum(variances, (of_task.freedom * of_task.variance + freedom * variances) / total)
    return np.where(variances > NO_VARIANCE, drawn, variances), total


def inverse_trigamma(value: float) -> float:
    """Return the x for which trigamma(x) = value.

    Newton's method is applied to 1 / trigamma(x), because this function is convex and nearly linear.

    >>> round(inverse_trigamma(trigamma(2.5)), 6)
    2.5
    """
    x = 0.5 + 1 / value
    for _ in range(NEWTON_STEPS):
        at_x = trigamma(x)
        step = at_x * (1 - at_x / value) / (-2 * float(zeta(3, x)))  # the derivative of trigamma is -2 zeta(3, x)
        x += step
        if abs(step) < 1e-10 * x:
            break
    return x


def trigamma(x: float) -> float:
    """Return the second derivative of the logarithm of the gamma function at x > 0.

    This is the Hurwitz zeta function of order 2. `scipy.special.polygamma` calls the same function, but takes four
    times as long for one number.
    """
    return float(zeta(2, x))
