"""Streams of random numbers, and draws of negatives: labels that an image does not have."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.random_numbers import below, new_state
from vsebench.kernels.vectors import LANES, any_equal


class Streams(NamedTuple):
    """The states of independent streams of random numbers.

    Each state is an array (1,) uint64, and each draw advances it. With separate streams, positives can be drawn in
    advance without affecting the negatives.

    Attributes
    ----------
    positives : for drawing positives
    negatives : for drawing negatives (in VSE-ens, only for the first attempt to draw each negative)
    redraws : for further attempts, if the first label drawn was a positive (VSE-ens only)
    """

    positives: NDArray[np.uint64]
    negatives: NDArray[np.uint64]
    redraws: NDArray[np.uint64]

    @classmethod
    def of(cls, seed: int, positives: int, negatives: int, redraws: int) -> "Streams":
        """Return the streams of a seed.

        `positives`, `negatives` and `redraws` are the numbers of the three streams. They must differ, so that the
        streams are independent.
        """
        return cls(new_state(seed, positives), new_state(seed, negatives), new_state(seed, redraws))


@njit(cache=True, inline="always")
def contains(row_labels, start, stop, label):
    """Return whether row_labels[start:stop] contains a label.

    The function compares 16 labels at a time.
    """
    is_label = False
    for j in range(start, stop, LANES):
        is_label |= any_equal(row_labels, j, stop - j, label)
    return is_label


@njit(cache=True, inline="always")
def draw_negative(row_labels, start, stop, n_labels, rng):
    """Return a label drawn uniformly from those that are not in row_labels[start:stop].

    At least one such label must exist; otherwise the function never returns.
    """
    label = below(rng, n_labels)
    while contains(row_labels, start, stop, label):
        label = below(rng, n_labels)
    return label
