"""Optimisers of a network's parameters; each takes a step in one pass over the arrays.

Arrays are (size,) float32; size is a multiple of 16. All arrays except the gradient are updated. `means` and `squares`
are running means of the gradients and of the squared gradients. These means and the velocities start at 0. Learning
rates and decays are floats.

Sources: AdamW is Algorithm 2 of Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019; momentum is
Eq. 1 and 2 of Sutskever, Martens, Dahl and Hinton, "On the importance of initialization and momentum in deep learning",
ICML 2013, but the learning rate multiplies the velocity instead of the gradient.
"""

import numpy as np
from numba import njit

from vsebench.kernels.vectors import FASTMATH, LANES, broadcast, divide, load, sqrt, store

MEAN_RATE, SQUARE_RATE, SMALLEST = 0.9, 0.999, 1e-8  # AdamW's beta 1, beta 2 and epsilon
MOMENTUM = 0.9


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def adamw_step(parameters, gradient, means, squares, number, learning_rate, decay):
    """Take step `number` of AdamW, counted from 1.

    The step of a parameter adapts to the parameter's recent gradients. In addition, each parameter decays: it is
    reduced by the learning rate times `decay` times its value.
    """
    adamw_move(parameters, gradient, means, squares, adamw_rates(number, learning_rate, decay))


@njit(cache=True, nogil=True)
def adamw_rates(number, learning_rate, decay):
    """Return three float32, the factors of means, squares and parameters in step `number`; see `adamw_step`."""
    of_mean = np.float32(learning_rate / (1 - MEAN_RATE**number))
    of_square = np.float32(1 / (1 - SQUARE_RATE**number))
    return of_mean, of_square, np.float32(learning_rate * decay)


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def adamw_move(parameters, gradient, means, squares, rates):
    """Take a step of AdamW; `rates` are the factors that `adamw_rates` returns for this step."""
    of_mean, of_square, shrinking = rates
    old_mean, new_mean = np.float32(MEAN_RATE), np.float32(1 - MEAN_RATE)
    old_square, new_square = np.float32(SQUARE_RATE), np.float32(1 - SQUARE_RATE)
    smallest = broadcast(np.float32(SMALLEST))
    for slot in range(0, len(parameters), LANES):
        slope = load(gradient, slot)
        mean = old_mean * load(means, slot) + new_mean * slope
        square = old_square * load(squares, slot) + new_square * (slope * slope)
        store(means, slot, mean)
        store(squares, slot, square)
        size = divide(of_mean * mean, sqrt(of_square * square) + smallest)
        value = load(parameters, slot)
        store(parameters, slot, value - (size + shrinking * value))


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def momentum_step(parameters, gradient, velocities, learning_rate, decay):
    """Take a step of gradient descent with momentum: v <- 0.9 v + g + decay w, w <- w - learning_rate v.

    Here, v are the velocities, g is the gradient, and w are the parameters. The term decay w is the derivative of
    decay / 2 times the sum of squared parameters.
    """
    kept, rate, shrinking = np.float32(MOMENTUM), np.float32(learning_rate), np.float32(decay)
    for slot in range(0, len(parameters), LANES):
        value = load(parameters, slot)
        velocity = kept * load(velocities, slot) + (load(gradient, slot) + shrinking * value)
        store(velocities, slot, velocity)
        store(parameters, slot, value - rate * velocity)
