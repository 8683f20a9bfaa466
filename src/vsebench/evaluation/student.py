"""Student's t, for the few pairs that times and their growth come in."""

import math

import numpy as np


def p_value(t: float, freedom: int) -> float:
    """Two-sided p-value of Student's t: with t = sqrt(freedom) tan(a), its density goes with cos(a)^(freedom - 1)."""

    def area(start: float) -> float:
        angles = np.linspace(start, math.pi / 2, 20001)
        return float(np.trapezoid(np.cos(angles) ** (freedom - 1), angles))

    return area(math.atan(t / math.sqrt(freedom))) / area(0.0)


def quantile(freedom: int) -> float:
    """Return the t that p = 5 % has, by bisection."""
    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle, freedom) > 0.05 else (low, middle)
    return low
