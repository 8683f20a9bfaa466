"""LSEP, ZLPR and BP-MLL, losses with sums of exponentials over an image's negatives and over its positives.

    A = sum of exp(f_v) over the negatives v,   B = sum of w_u exp(-f_u) over the positives u
    LSEP = log(1 + A B),   ZLPR = log(1 + A) + log(1 + B),   BP-MLL = A B

Here f_k is the score of label k. In weighted LSEP, w_u is L(r), where r is the rank of the positive u; in all other
losses, w_u is 1. If all weights are 1, A B is a smooth upper bound on the number of misordered pairs of a positive and
a negative. ZLPR is LSEP with an additional label of score 0 that separates the positives from the negatives.

The time of a loss without weights grows with the number of labels, not with the number of pairs, so pairs need not be
sampled. A label's share of A or of B is the label's term divided by the sum. The derivative with respect to the score
of a label is proportional to this share. `kernels.losses` describes L and the arguments of the losses.

Sources: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 7 (LSEP);
Su and others, "ZLPR: a novel loss for multi-label classification", 2022; Zhang and Zhou, "Multilabel neural networks
with applications to functional genomics and text categorization", IEEE TKDE 18(10), 2006, Eq. 3 (BP-MLL).
"""

import numpy as np
from numba import njit

from vsebench.kernels.losses.logistic import sigmoid, softplus
from vsebench.kernels.rank_loss import loss_of_rank
from vsebench.kernels.vectors import FASTMATH

# In BP-MLL, a larger exponent gives an infinite loss: float32 overflows above exp(88), and AdamW squares derivatives.
LARGEST_EXPONENT = 40.0


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def lsep_loss(scores, images, offsets, labels, rank_loss, weighted, terms):
    """Return the LSEP loss, float64: the sum over images of log(1 + A B); the module defines A and B.

    An image without positives or without negatives has loss 0.
    """
    total = 0.0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        for slot in range(start, stop):
            terms[slot - start] = loss_of_rank(scores, row, labels[slot], rank_loss) if weighted else 1.0
        log_a, log_b, a = take_exponentials(scores, row, labels, start, stop, terms)
        total += softplus(log_a + log_b)
        slope = sigmoid(log_a + log_b)
        write_slopes(scores, row, labels, start, stop, terms, a, slope, -slope)
    return total


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def zlpr_loss(scores, images, offsets, labels, terms):
    """Return the ZLPR loss, float64: the sum over images of log(1 + A) + log(1 + B); the module defines A and B."""
    total = 0.0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        terms[: stop - start] = 1.0
        log_a, log_b, a = take_exponentials(scores, row, labels, start, stop, terms)
        total += softplus(log_a) + softplus(log_b)
        write_slopes(scores, row, labels, start, stop, terms, a, sigmoid(log_a), -sigmoid(log_b))
    return total


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def bp_mll_loss(scores, images, offsets, labels, averaged, terms):
    """Return the BP-MLL loss, float64: the sum over images of A B; the module defines A and B.

    If `averaged`, each A B is divided by the number of pairs of a positive and a negative of the image.
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


@njit(cache=True, inline="always")
def take_exponentials(scores, row, labels, start, stop, terms):
    """Overwrite the scores of an image: write exp(f_v - the largest f_v) for each negative v, and 0 for each positive.

    Exponents are at most 0, so no exponential overflows. If the image has every label, minus infinity is written for
    every label, and `write_slopes` replaces these numbers. The module defines A, B, w_u and a label's share of B.

    scores : (m, n_labels) float32; the row `row` is overwritten
    row : integer
    labels : int32; the image's labels are labels[start:stop]
    terms : (n_labels,) float64; starts with the weights w_u of the image's labels, which are overwritten with the
        labels' shares of B

    Returns log A, log B, and the sum of the written exponentials, all float64. The logarithm of an empty sum is
    -infinity.
    """
    smallest = np.float32(np.inf)
    for slot in range(start, stop):
        smallest = min(smallest, scores[row, labels[slot]])
    b = 0.0
    for slot in range(start, stop):
        terms[slot - start] *= np.exp(smallest - scores[row, labels[slot]])
        b += terms[slot - start]
        scores[row, labels[slot]] = -np.inf
    for slot in range(start, stop):
        terms[slot - start] /= b
    largest = np.float32(-np.inf)
    for k in range(scores.shape[1]):
        largest = max(largest, scores[row, k])
    a = 0.0
    if stop - start < scores.shape[1]:
        for k in range(scores.shape[1]):
            scores[row, k] = np.exp(scores[row, k] - largest)
            a += scores[row, k]
    return largest + np.log(a) if a > 0 else -np.inf, np.log(b) - smallest if b > 0 else -np.inf, a


@njit(cache=True, inline="always")
def write_slopes(scores, row, labels, start, stop, terms, a, of_negatives, of_positives):
    """Overwrite the scores of an image with the derivatives: each label's share of A or of B, times a factor.

    scores, terms : as `take_exponentials` left them; row `row` of `scores` is overwritten
    labels : int32; the image's labels are labels[start:stop]
    a : the sum of the exponentials that `take_exponentials` wrote
    of_negatives, of_positives : float64, the factor of the shares of A, and the factor of the shares of B
    """
    scale = np.float32(of_negatives / a) if a > 0 else np.float32(0)
    for k in range(scores.shape[1]):
        scores[row, k] *= scale
    for slot in range(start, stop):
        scores[row, labels[slot]] = of_positives * terms[slot - start]
