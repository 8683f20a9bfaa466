"""For each pair of labels, count the images that have both labels, or add up the weights of these images."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_together(offsets, labels, n_labels):
    """For each pair of labels, count the images that have both labels.

    offsets : (n_images + 1,) int64, where each image's labels start in `labels`
    labels : (n_pairs,) int32, the labels of all images, one image after the other
    n_labels : integer

    Returns X' X for the binary label matrix X, (n_labels, n_labels) float64. The diagonal contains the number of images
    with each label.
    """
    together = np.zeros((n_labels, n_labels))
    for i in range(len(offsets) - 1):
        row = labels[offsets[i] : offsets[i + 1]]
        for a in row:
            for b in row:
                together[a, b] += 1.0
    return together


@njit(cache=True, nogil=True)
def weigh_together(offsets, labels, weights, n_labels):
    """For each pair of labels, add up the weights of the images that have both labels.

    offsets, labels, n_labels : as in `count_together`
    weights : (n_images,) float64

    Returns X' diag(weights) X for the binary label matrix X, (n_labels, n_labels) float64.
    """
    together = np.zeros((n_labels, n_labels))
    for i in range(len(offsets) - 1):
        row = labels[offsets[i] : offsets[i + 1]]
        for a in row:
            for b in row:
                together[a, b] += weights[i]
    return together
