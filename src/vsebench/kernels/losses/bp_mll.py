"""BP-MLL: the sum of exp(f_v - f_u) over an image's pairs of a positive u and a negative v, without a logarithm.

Source: Zhang and Zhou, "Multilabel neural networks with applications to functional genomics and text categorization",
IEEE TKDE 18(10), 2006, Eq. 3.
"""

import numpy as np
from numba import njit

from vsebench.kernels.losses.shares import take_exponentials, write_slopes
from vsebench.kernels.vectors import FASTMATH

LARGEST_EXPONENT = 40.0  # float32 ends at exp(88), and AdamW squares derivatives; a loss beyond is no longer finite


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def bp_mll_loss(scores, images, offsets, labels, averaged, terms):
    """Return the sum over images of the sum over their pairs, float64.

    Its derivatives are written over `scores`.

    Parameters
    ----------
    scores : (m, n_labels) float32, overwritten with the derivatives
    images : (m,) int64, the image of each row
    offsets, labels : (n + 1,) int64 and int32: image i has labels[offsets[i]:offsets[i + 1]], ascending
    averaged : whether an image's sum is divided by its number of pairs
    terms : (n_labels,) float64, room for one image
    """
    total = 0.0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        terms[: stop - start] = 1.0
        log_a, log_b, a = take_exponentials(scores, row, labels, start, stop, terms)
        exponent = log_a + log_b
        if averaged:
            exponent -= np.log(max(1, (stop - start) * (scores.shape[1] - (stop - start))))
        value = np.exp(min(exponent, LARGEST_EXPONENT))
        total += value if exponent <= LARGEST_EXPONENT else np.inf
        write_slopes(scores, row, labels, start, stop, terms, a, value, -value)
    return total
