"""AdamW: step sizes adapt to each parameter's recent gradients, and weights decay independently of the gradients.

Source: Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019, Algorithm 2.
"""

import numpy as np
from numba import njit

from vsebench.kernels.vectors import FASTMATH, LANES, broadcast, divide, load, sqrt, store

MEAN_RATE, SQUARE_RATE, SMALLEST = 0.9, 0.999, 1e-8  # beta 1, beta 2 and epsilon


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def adamw_step(parameters, gradient, means, squares, number, learning_rate, decay):
    """Take one step, in one pass over the four arrays.

    parameters, gradient, means, squares
        (size,) float32; size is a multiple of 16. All but the gradient are updated. Means and squares start at 0.
    number : integer, number of the step, from 1
    learning_rate, decay : float; the decay is multiplied by the learning rate
    """
    adamw_move(parameters, gradient, means, squares, adamw_rates(number, learning_rate, decay))


@njit(cache=True, nogil=True)
def adamw_rates(number, learning_rate, decay):
    """Return a step's factors of means, squares and decay, three float32; arguments are those of `adamw_step`."""
    of_mean = np.float32(learning_rate / (1 - MEAN_RATE**number))
    of_square = np.float32(1 / (1 - SQUARE_RATE**number))
    return of_mean, of_square, np.float32(learning_rate * decay)


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def adamw_move(parameters, gradient, means, squares, rates):
    """Take one step with the factors of `adamw_rates`; arrays are those of `adamw_step`."""
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
