"""Draw labels for simulated images."""

import numpy as np
from numba import njit

from vsebench.kernels.random_numbers import below, uniform


@njit(cache=True, inline="always")
def draw_index(weights, rng):
    """Draw an index with the probabilities `weights`.

    weights : (n,), adds up to 1
    rng : (1,) uint64, the state of the random numbers; each draw changes it
    """
    left = uniform(rng)
    for index in range(len(weights) - 1):
        left -= weights[index]
        if left < 0:
            return index
    return len(weights) - 1


@njit(cache=True, inline="always")
def draw_new(mixture, cumulative, row, rng):
    """Draw labels for an image until one is not in `row`, and return this label.

    Each draw first chooses a topic of the image, and then a label of this topic.

    mixture : (T,) float32, the image's topic probabilities
    cumulative : (T, n_labels) float64, cumulative label probabilities of each topic
    row : (n,) int32, the labels that the image already has
    rng : (1,) uint64, the state of the random numbers; each draw changes it
    """
    while True:
        topic = draw_index(mixture, rng)
        label = np.searchsorted(cumulative[topic], uniform(rng), side="right")
        is_drawn = False
        for earlier in row:
            is_drawn |= earlier == label
        if not is_drawn:
            return label


@njit(cache=True, nogil=True)
def draw_labels(mixtures, cumulative, offsets, novelty, rng):
    """Draw the labels of images.

    Each label is either a new label, drawn by `draw_new`, or a copy of an earlier label of the same image.

    mixtures : (n_images, T) float32, the topic probabilities of each image; rows add up to 1
    cumulative : (T, n_labels) float64, cumulative label probabilities of each topic; the last column is 1
    offsets : (n_images + 1,) int64, where each image's labels start in the result
    novelty
        If an image has n labels so far, its next label is a copy of one of them with probability n / (n + novelty). The
        label to copy is drawn uniformly. If `novelty` is infinite, there are no copies.
    rng : (1,) uint64, the state of the random numbers; each draw changes it

    Returns the labels of all images, one image after the other, (offsets[-1],) int32.
    """
    labels = np.empty(offsets[-1], dtype=np.int32)
    for i in range(len(mixtures)):
        for slot in range(offsets[i], offsets[i + 1]):
            row = labels[offsets[i] : slot]
            if uniform(rng) * (len(row) + novelty) < len(row):
                labels[slot] = row[below(rng, len(row))]
            else:
                labels[slot] = draw_new(mixtures[i], cumulative, row, rng)
    return labels
