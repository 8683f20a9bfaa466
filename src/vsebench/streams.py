"""Streams of random numbers by name: a seed and a name give the same numbers everywhere.

NumPy's generators and the kernels' states are different generators, so a number may stand for one of each.
"""

from enum import IntEnum, unique

import numpy as np


@unique
class Stream(IntEnum):
    """Which stream a fit draws from."""

    START = 1  # the embeddings that training starts from, and the random control
    POSITIVES = 2  # stochastic steps: the positive of each
    NEGATIVES = 3  # and the negative
    NEGATIVES_AGAIN = 4  # drawn anew where the first was a positive


VALIDATION_SAMPLE = 3  # which images are validated on
SIMULATED_LABELS = 3  # the labels of a simulated data set, by its own seed


def generator(seed: int, stream: int) -> np.random.Generator:
    """Return NumPy's generator of a stream."""
    return np.random.default_rng([seed, int(stream)])
