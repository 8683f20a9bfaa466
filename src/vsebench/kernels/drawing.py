"""Drawing labels for simulated images."""

import numpy as np
from numba import njit

from vsebench.kernels.random import uniform


@njit(cache=True, inline="always")
def draw_index(weights, rng):
    """Draw an index with the probability that `weights`, which add up to 1, give it."""
    left = uniform(rng)
    for index in range(len(weights) - 1):
        left -= weights[index]
        if left < 0:
            return index
    return len(weights) - 1


@njit(cache=True, nogil=True)
def draw_labels(mixtures, cumulative, offsets, distinct, rng):
    """Draw labels for each image: a topic from the image's mixture, then a label from the topic.

    Parameters
    ----------
    mixtures
        (n_images, T) float32, rows add up to 1.
    cumulative
        (T, n_labels) float64, cumulated probabilities of the labels in each topic; the last column is 1.
    offsets
        (n_images + 1,) int64, where each image's labels start.
    distinct
        Whether a label that the image already has is drawn anew (which is drawing without replacement).
    rng
        (1,) uint64, state of the random numbers; advanced.

    Returns
    -------
    (offsets[-1],) int32
    """
    labels = np.empty(offsets[-1], dtype=np.int32)
    for i in range(len(mixtures)):
        slot = offsets[i]
        while slot < offsets[i + 1]:
            topic = draw_index(mixtures[i], rng)
            label = np.searchsorted(cumulative[topic], uniform(rng), side="right")
            new = True
            if distinct:
                for earlier in range(offsets[i], slot):
                    new &= labels[earlier] != label
            if new:
                labels[slot] = label
                slot += 1
    return labels
