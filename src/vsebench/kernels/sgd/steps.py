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
    """Return exp(-|m|) and 1 / (1 + exp(m)), without overflow, for the margin m, float32.

    The loss log(1 + exp(-m)) is log(1 + exp(-|m|)) + max(-m, 0), and 1 / (1 + exp(m)) is minus its derivative.
    """
    decay = np.exp(-abs(margin))
    return decay, (decay if margin > 0 else np.float32(1)) / (np.float32(1) + decay)


@njit(cache=True, fastmath=False)
def exact_product(a, b):
    """Return a * b, float32. Fastmath reorders nothing across this call: a * (b / c) does not become (a * b) / c."""
    return a * b


@njit(cache=True, fastmath=FASTMATH, inline="always")
def sgd_step(embedding, i, p, n, size, shrinkage):
    """Take one gradient step, v += size * d<v_i, v_p - v_n> / dv - shrinkage * v, for v_i, v_p and v_n at once.

    size : float32, minus the learning rate times the derivative of the loss with respect to the margin <v_i, v_p - v_n>
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
    """Scale a row of a matrix (n, K) float32 down to the norm `max_norm`, float32, if it is longer."""
    norm = np.sqrt(dot(matrix, row, matrix, row))
    if norm > max_norm:
        for f in range(0, matrix.shape[1], LANES):
            store(matrix, (row, f), (max_norm / norm) * load(matrix, (row, f)))
