"""ZLPR: LSEP with one more label, of score 0, that stands between the positives and the negatives.

Source: Su and others, "ZLPR: a novel loss for multi-label classification", 2022.
"""

from numba import njit

from vsebench.kernels.losses.shares import sigmoid, softplus, take_exponentials, write_slopes
from vsebench.kernels.vectors import FASTMATH


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def zlpr_loss(scores, images, offsets, labels, terms):
    """Return the sum over images of log(1 + A) + log(1 + B), float64; see `kernels.shares`.

    Its derivatives are written over `scores`.

    Parameters
    ----------
    scores : (m, n_labels) float32, overwritten with the derivatives
    images : (m,) int64, the image of each row
    offsets, labels : (n + 1,) int64 and int32: image i has labels[offsets[i]:offsets[i + 1]], ascending
    terms : (n_labels,) float64, room for one image
    """
    total = 0.0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        terms[: stop - start] = 1.0
        log_a, log_b, a = take_exponentials(scores, row, labels, start, stop, terms)
        total += softplus(log_a) + softplus(log_b)
        write_slopes(scores, row, labels, start, stop, terms, a, sigmoid(log_a), -sigmoid(log_b))
    return total
