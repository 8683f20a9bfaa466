"""Stochastic gradient steps on one triple: image i, positive label p, negative label n."""

from typing import NamedTuple

import numpy as np
from numba import njit

from vsebench.kernels.products import dot
from vsebench.kernels.vectors import FASTMATH, LANES, load, store


class Rates(NamedTuple):
    """The learning rate and the regularisation of gradient steps.

    Attributes
    ----------
    learning_rate : eta, constant
    regularisation : lambda in the penalty lambda / 2 (|v_i|^2 + |v_p|^2 + |v_n|^2) of each step
    """

    learning_rate: float
    regularisation: float


@njit(cache=True, inline="always")
def logistic(margin):
    """Return exp(-|m|) and 1 / (1 + exp(m)), both float32, for a margin m.

    The computation cannot overflow. The loss log(1 + exp(-m)) is log(1 + exp(-|m|)) + max(-m, 0). Its derivative is
    -1 / (1 + exp(m)).

    margin : float32, m
    """
    decay = np.exp(-abs(margin))
    return decay, (decay if margin > 0 else np.float32(1)) / (np.float32(1) + decay)


@njit(cache=True, fastmath=False)
def exact_product(a, b):
    """Return a * b, float32, without letting Fastmath reorder operations across this call.

    For example, a * (b / c) does not become (a * b) / c.
    """
    return a * b


@njit(cache=True, fastmath=FASTMATH, inline="always")
def sgd_step(embedding, i, p, n, size, shrinkage):
    """Take one gradient step on the vectors v_i, v_p and v_n.

    With the margin m = <v_i, v_p - v_n>, the step adds size * dm/dv - shrinkage * v to each of these vectors v. All
    changes are computed from the vectors before the step.

    size : float32, minus the derivative of the loss with respect to m, times the learning rate
    shrinkage : float32, learning rate times regularisation
    """
    images, labels = embedding
    keep = np.float32(1) - shrinkage
    for f in range(0, images.shape[1], LANES):
        image, positive, negative = load(images, (i, f)), load(labels, (p, f)), load(labels, (n, f))
        store(images, (i, f), keep * image + size * (positive - negative))
        store(labels, (p, f), keep * positive + size * image)
        store(labels, (n, f), keep * negative - size * image)


@njit(cache=True, fastmath=FASTMATH, inline="always")
def project(matrix, row, max_norm):
    """Scale a row of a matrix down to the norm `max_norm` if its norm is larger.

    matrix : (n, K) float32, updated
    max_norm : float32
    """
    norm = np.sqrt(dot(matrix, row, matrix, row))
    if norm > max_norm:
        for f in range(0, matrix.shape[1], LANES):
            store(matrix, (row, f), (max_norm / norm) * load(matrix, (row, f)))
