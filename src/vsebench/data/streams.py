"""Streams of random numbers by name: a seed and a name give the same numbers everywhere.

NumPy's generators and the kernels' states are different generators, so one number may name a stream of each.
"""

from enum import IntEnum, unique

import numpy as np


@unique
class Stream(IntEnum):
    """The streams of a fit, and of what is simulated for it."""

    START = 1  # the embeddings that training starts from, and the random control
    POSITIVES = 2  # the positive of each stochastic step
    NEGATIVES = 3  # the negative of each stochastic step
    NEGATIVES_AGAIN = 4  # further attempts at a negative, if the first one was a positive
    ORDER = 5  # the order of the images in each epoch
    SIMULATED_LABELS = 6  # the labels of a simulated data set, by its own seed; a fit's seed may be the same number
    DIRECTIONS = 7  # the directions of a random projection tree
    DROPOUT = 8  # which units of a network are dropped
    HEAD_START = 9  # the same of a network that decides
    HEAD_ORDER = 10
    HEAD_DROPOUT = 11
    WORDS = 12  # the vectors of labels that have none, random vectors, and whom vectors are dealt to


VALIDATION_SAMPLE = 3  # which images are validated on; drawn by NumPy's generator, NEGATIVES by the kernels'


def generator(seed: int, stream: int) -> np.random.Generator:
    """Return NumPy's generator of a stream for a seed."""
    return np.random.default_rng([seed, int(stream)])
