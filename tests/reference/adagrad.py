"""Adagrad in plain NumPy and float64."""

import numpy as np


def adagrad(parameters, squares, index, gradient, rate):
    """Step along a gradient; `squares` are the sums of the squared gradients so far."""
    squares[index] += gradient**2
    parameters[index] += rate * gradient / np.sqrt(squares[index])


def adagrad_step(images, labels, biases, squares, i, p, n, weight, rate, regularisation):
    """Step along weight * d(<v_i, v_p - v_n> + b_p - b_n) / dv - regularisation * v."""
    image, positive, negative = images[i].copy(), labels[p].copy(), labels[n].copy()
    adagrad(images, squares[0], i, weight * (positive - negative) - regularisation * image, rate)
    adagrad(labels, squares[1], p, weight * image - regularisation * positive, rate)
    adagrad(labels, squares[1], n, -weight * image - regularisation * negative, rate)
    adagrad(biases, squares[2], p, weight - regularisation * biases[p], rate)
    adagrad(biases, squares[2], n, -weight - regularisation * biases[n], rate)
