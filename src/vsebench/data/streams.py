"""Named streams of random numbers: a seed and a name give the same numbers everywhere.

NumPy and the kernels have different generators, so one number may name a stream of each.
"""

from enum import IntEnum, unique

import numpy as np


@unique
class Stream(IntEnum):
    """The streams of a fit and of simulated labels."""

    START = 1  # the initial embeddings, and the random control
    POSITIVES = 2  # the positive of each stochastic step
    NEGATIVES = 3  # the negative of each stochastic step
    NEGATIVES_AGAIN = 4  # further attempts at a negative, if the first was a positive
    ORDER = 5  # the order of the images in each epoch
    SIMULATED_LABELS = 6  # the labels of a simulated data set; its seed may equal a fit's seed
    DIRECTIONS = 7  # the directions of a random projection tree
    DROPOUT = 8  # the units of a network to drop
    HEAD_START = 9  # like START, ORDER and DROPOUT, for a network that decides about labels
    HEAD_ORDER = 10
    HEAD_DROPOUT = 11
    WORDS = 12  # vectors for labels without one, random vectors, and permutations of vectors
    PRESAMPLE = 13  # the labels from which an epoch's negatives are drawn


VALIDATION_SAMPLE = 3  # the images to validate on, drawn by NumPy; the kernels draw NEGATIVES, also 3


def generator(seed: int, stream: int) -> np.random.Generator:
    """Return the NumPy generator of a stream for a seed."""
    return np.random.default_rng([seed, int(stream)])
