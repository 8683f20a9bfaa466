"""Named streams of random numbers: the same seed and name give the same numbers everywhere.

The value of a `Stream` is part of the state from which a generator starts. NumPy and the kernels use different
generators, so a stream of NumPy and a stream of the kernels may have the same value.
"""

from enum import IntEnum, unique

import numpy as np


@unique
class Stream(IntEnum):
    """The names of all streams that fits and simulators use."""

    START = 1  # the initial embeddings, and the scores of the random control
    POSITIVES = 2  # the positive of each stochastic step
    NEGATIVES = 3  # the negative of each stochastic step
    NEGATIVES_AGAIN = 4  # the repeated draws of a negative, after a draw gave a positive
    ORDER = 5  # the order of the images in each epoch
    SIMULATED_LABELS = 6  # the labels of a simulated data set; its seed may equal a fit's seed
    DIRECTIONS = 7  # the directions of a random projection tree
    DROPOUT = 8  # the activations of a network that dropout sets to 0
    HEAD_START = 9  # HEAD_...: like START, ORDER and DROPOUT, but for a network that predicts label sets
    HEAD_ORDER = 10
    HEAD_DROPOUT = 11
    WORDS = 12  # word vectors for labels without one, random vectors, and permutations of vectors
    PRESAMPLE = 13  # the labels from which an epoch's negatives are drawn
    PARTS = 15  # the division of the labels into parts, anew in each epoch (`methods.by_labels.strata`)
    LATENT = 14  # the noise of a variational autoencoder's latent variables


LARGEST_SEED = 2**63 - 1  # tables store seeds as int64
VALIDATION_SAMPLE = 3  # the images to validate on, drawn by NumPy; NEGATIVES is also 3, but is drawn by kernels


def generator(seed: int, stream: int) -> np.random.Generator:
    """Return the NumPy generator of a stream for a seed."""
    return np.random.default_rng([seed, int(stream)])
