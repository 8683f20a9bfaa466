"""Stochastic gradient descent with momentum and an l2 term, for the parameters of a network.

Source: Sutskever, Martens, Dahl and Hinton, "On the importance of initialization and momentum in deep learning", ICML
2013, Eq. 1 and 2, with the learning rate outside of the velocity.
"""

import numpy as np
from numba import njit

from vsebench.kernels.vectors import FASTMATH, LANES, load, store

MOMENTUM = 0.9


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def momentum_step(parameters, gradient, velocities, learning_rate, decay):
    """Take one step, in one pass over the three arrays: v <- 0.9 v + g + decay w, w <- w - learning_rate v.

    parameters, gradient, velocities
        (size,) float32; size is a multiple of 16. All but the gradient are updated. Velocities start at 0.
    learning_rate, decay : float; the l2 term of the loss is decay / 2 times the sum of squares
    """
    kept, rate, shrinking = np.float32(MOMENTUM), np.float32(learning_rate), np.float32(decay)
    for slot in range(0, len(parameters), LANES):
        value = load(parameters, slot)
        velocity = kept * load(velocities, slot) + (load(gradient, slot) + shrinking * value)
        store(velocities, slot, velocity)
        store(parameters, slot, value - rate * velocity)
