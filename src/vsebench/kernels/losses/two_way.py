"""The two-way loss: each image is compared with all labels, and each label with all images of the batch.

    P = T log sum of exp(-f / T) over the positives,   N = U log sum of exp(f / U) over the negatives
    loss of an image or of a label = log(1 + exp(P + N))

Here f is the score of a label for an image, and T and U are the temperatures. P is a smooth upper bound on the largest
-f of the positives, and N is a smooth upper bound on the largest f of the negatives. For an image, positives and
negatives are labels; for a label, they are images of the batch.

Source: Kobayashi, "Two-way multi-label loss", CVPR 2023. If both temperatures are 1, the loss of an image equals
LSEP over all pairs.
"""

import numpy as np
from numba import njit

from vsebench.kernels.losses.logistic import sigmoid, softplus


@njit(cache=True, nogil=True)
def two_way_loss(scores, images, offsets, labels, of_positives, of_negatives):
    """Return the two-way loss of a batch of m images, times m, float64.

    The two-way loss is the mean loss of the images that have a label, plus the mean loss of the labels that occur in
    the batch. The module defines the loss of an image or label. A mean over no images or no labels is 0.
    `kernels.losses` describes the first four arguments.

    of_positives, of_negatives : float > 0, the temperatures T and U
    """
    m, n = scores.shape
    values, is_positive = scores.copy(), np.zeros(scores.shape, dtype=np.bool_)
    n_images, n_labels = mark_positives(images, offsets, labels, is_positive)
    scores[:] = 0
    total = 0.0
    for row in range(m):
        weight = m / max(1, n_images)
        total += loss_of_line(values[row], is_positive[row], of_positives, of_negatives, weight, scores[row])
    for k in range(n):
        weight = m / max(1, n_labels)
        total += loss_of_line(values[:, k], is_positive[:, k], of_positives, of_negatives, weight, scores[:, k])
    return total


@njit(cache=True)
def mark_positives(images, offsets, labels, is_positive):
    """Set `is_positive`, (m, n_labels) bool, to True at the labels of each image.

    Returns the number of images that have a label, and the number of labels that occur in the batch.
    """
    n_images = 0
    for row in range(len(images)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        n_images += stop > start
        for slot in range(start, stop):
            is_positive[row, labels[slot]] = True
    n_labels = 0
    for k in range(is_positive.shape[1]):
        n_labels += is_positive[:, k].any()
    return n_images, n_labels


@njit(cache=True)
def loss_of_line(values, is_positive, of_positives, of_negatives, weight, slopes):
    """Return the weighted loss of one image or label, and add the derivatives of this loss to `slopes`.

    The loss is 0 if the image or label has no positives or no negatives.

    values, is_positive : (n,) float32 and bool, the scores, and whether each is the score of a positive
    of_positives, of_negatives : float > 0, the temperatures
    weight : float64, a factor of the loss
    slopes : (n,) float32, to which the derivatives are added
    """
    smallest, largest = np.inf, -np.inf  # the smallest score of a positive, and the largest of a negative
    for i in range(len(values)):
        if is_positive[i]:
            smallest = min(smallest, values[i])
        else:
            largest = max(largest, values[i])
    if smallest == np.inf or largest == -np.inf:
        return 0.0
    sum_positives, sum_negatives = 0.0, 0.0
    for i in range(len(values)):
        if is_positive[i]:
            sum_positives += np.exp((smallest - values[i]) / of_positives)
        else:
            sum_negatives += np.exp((values[i] - largest) / of_negatives)
    exponent = largest - smallest + of_positives * np.log(sum_positives) + of_negatives * np.log(sum_negatives)
    slope = weight * sigmoid(exponent)
    for i in range(len(values)):
        if is_positive[i]:
            slopes[i] -= slope * np.exp((smallest - values[i]) / of_positives) / sum_positives
        else:
            slopes[i] += slope * np.exp((values[i] - largest) / of_negatives) / sum_negatives
    return weight * softplus(exponent)
