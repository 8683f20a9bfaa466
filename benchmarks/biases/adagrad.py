"""Adagrad, in which each parameter has its own learning rate.

The rate of a parameter is eta / sqrt(sum of its squared gradients so far), where eta is the same for all parameters.

Source: Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic optimization", JMLR
2011.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.vectors import FASTMATH, LANES, divide_or_zero, load, sqrt, store


class SquaredGradients(NamedTuple):
    """The sum of the squared gradients of each parameter so far, which the steps update.

    Attributes
    ----------
    images : (n_images, K) float32
    labels : (n_labels, K) float32
    biases : (n_labels,) float32
    """

    images: NDArray[np.float32]
    labels: NDArray[np.float32]
    biases: NDArray[np.float32]


@njit(cache=True, fastmath=FASTMATH, inline="always")
def adagrad_step(embedding, biases, squares, i, p, n, weight, learning_rate, regularisation):
    """Take one Adagrad step on a triple (image i, positive p, negative n).

    The parameters are the vectors v_i, v_p and v_n and the biases b_p and b_n. Each parameter v takes a step along
    weight * dm/dv - lambda v, where m = <v_i, v_p - v_n> + b_p - b_n.

    embedding : `Embedding`, updated
    biases : (n_labels,) float32, bias b_c of each label c; updated
    squares : `SquaredGradients`, updated
    i, p, n : integers, image, positive and negative
    weight : float32, the negative derivative of the loss with respect to m
    learning_rate, regularisation : float32, eta and lambda
    """
    images, labels = embedding
    for f in range(0, images.shape[1], LANES):
        image, positive, negative = load(images, (i, f)), load(labels, (p, f)), load(labels, (n, f))
        gradient = weight * (positive - negative) - regularisation * image
        adagrad(images, squares.images, i, f, image, gradient, learning_rate)
        gradient_p = weight * image - regularisation * positive
        adagrad(labels, squares.labels, p, f, positive, gradient_p, learning_rate)
        gradient_n = -weight * image - regularisation * negative
        adagrad(labels, squares.labels, n, f, negative, gradient_n, learning_rate)
    adagrad_bias(biases, squares.biases, p, weight, learning_rate, regularisation)
    adagrad_bias(biases, squares.biases, n, -weight, learning_rate, regularisation)


@njit(cache=True, fastmath=FASTMATH, inline="always")
def adagrad(matrix, squares, row, f, value, gradient, learning_rate):
    """Take the Adagrad step of 16 parameters, matrix[row, f:f + 16].

    matrix, squares : (n, K) float32, parameters and sums of their squared gradients; updated
    value, gradient : `Vector`, the parameters before the step and their gradient
    learning_rate : float32
    """
    square = load(squares, (row, f)) + gradient * gradient
    store(squares, (row, f), square)
    store(matrix, (row, f), value + learning_rate * divide_or_zero(gradient, sqrt(square)))


@njit(cache=True, fastmath=FASTMATH, inline="always")
def adagrad_bias(biases, squares, label, weight, learning_rate, regularisation):
    """Take the Adagrad step of one label's bias b, along weight - lambda b.

    biases, squares : (n_labels,) float32, biases and sums of their squared gradients; updated
    label : integer
    weight : float32, the negative derivative of the loss with respect to the bias
    learning_rate, regularisation : float32, eta and lambda
    """
    gradient = weight - regularisation * biases[label]
    squares[label] += gradient * gradient
    biases[label] += learning_rate * gradient / np.sqrt(squares[label])
