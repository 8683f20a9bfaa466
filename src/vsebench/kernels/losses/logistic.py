"""The logistic function and its integral, without overflow."""

import numpy as np
from numba import njit


@njit(cache=True, inline="always")
def softplus(z):
    """Return log(1 + exp(z)), float64."""
    return max(z, 0.0) + np.log1p(np.exp(-abs(z)))


@njit(cache=True, inline="always")
def sigmoid(z):
    """Return 1 / (1 + exp(-z)), float64."""
    smaller = np.exp(-abs(z))
    return (1.0 if z >= 0 else smaller) / (1 + smaller)
