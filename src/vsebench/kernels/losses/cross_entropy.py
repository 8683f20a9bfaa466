"""Cross-entropies with the uniform distribution over an image's labels (softmax), and of each label alone (binary).

The arguments of both are those of `kernels.losses`. The binary form is logistic regression.

Source of the softmax: Gong and others, "Deep convolutional ranking for multilabel image annotation", 2013, Eq. 1 and 2.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def softmax_loss(scores, images, offsets, labels, averaged):
    """Return the sum over images of -sum over their labels u of log softmax(f)_u, float64.

    If `averaged`, the sum over an image's labels is divided by their number.
    """
    total = 0.0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        weight = 1.0 / max(1, stop - start) if averaged else 1.0
        largest = scores[row].max()
        for slot in range(start, stop):
            total += weight * (np.float64(largest) - scores[row, labels[slot]])
        sum_of_all = 0.0
        for k in range(scores.shape[1]):
            scores[row, k] = np.exp(scores[row, k] - largest)
            sum_of_all += scores[row, k]
        total += weight * (stop - start) * np.log(sum_of_all)
        for k in range(scores.shape[1]):
            scores[row, k] *= weight * (stop - start) / sum_of_all
        for slot in range(start, stop):
            scores[row, labels[slot]] -= weight
    return total


@njit(cache=True, nogil=True)
def binary_loss(scores, images, offsets, labels):
    """Return the sum over images and labels k of log(1 + exp(f_k)) - y_k f_k, float64; y_k is 1 or 0."""
    total = 0.0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        for slot in range(start, stop):
            total -= scores[row, labels[slot]]
        for k in range(scores.shape[1]):
            smaller = np.exp(-abs(scores[row, k]))
            total += max(scores[row, k], np.float32(0)) + np.log1p(smaller)
            scores[row, k] = (np.float32(1) if scores[row, k] >= 0 else smaller) / (np.float32(1) + smaller)
        for slot in range(start, stop):
            scores[row, labels[slot]] -= np.float32(1)
    return total
