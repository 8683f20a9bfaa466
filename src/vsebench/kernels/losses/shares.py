"""What LSEP, ZLPR and BP-MLL have in common: sums of exponentials over an image's negatives and over its positives.

    A = sum of exp(f_v) over the negatives v,   B = sum of w_u exp(-f_u) over the positives u

A loss of A and B costs the number of labels, not of pairs, and its derivatives are shares of A and of B. A kernel takes
the exponentials of an image with `take_exponentials`, and writes the derivatives with `write_slopes`.
"""

import numpy as np
from numba import njit


@njit(cache=True, inline="always")
def take_exponentials(scores, row, labels, start, stop, terms):
    """Write exp(f_v - the largest) in place of a negative's score, 0 in place of a positive's, and B's terms.

    Where an image carries every label, minus infinity is written, and `write_slopes` replaces it.

    Exponents are at most 0, so no score is too large.

    Parameters
    ----------
    scores : (m, n_labels) float32, of which a row is overwritten
    row : integer
    labels : int32, of which labels[start:stop] are the image's
    terms
        (n_labels,) float64: the weights w_u of the image's labels, in their order. Overwritten with the shares of B
        that belong to them.

    Returns
    -------
    log A and log B, minus infinity for a sum without a term, and the sum of the written exponentials; float64
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
    """Write the derivatives: a number times the share of A for each negative, another times the share of B.

    Parameters
    ----------
    scores, terms : as `take_exponentials` has written them; the row of scores is overwritten
    labels : int32, of which labels[start:stop] are the image's
    a : the sum of the written exponentials
    of_negatives, of_positives : float64
    """
    scale = np.float32(of_negatives / a) if a > 0 else np.float32(0)
    for k in range(scores.shape[1]):
        scores[row, k] *= scale
    for slot in range(start, stop):
        scores[row, labels[slot]] = of_positives * terms[slot - start]


@njit(cache=True, inline="always")
def softplus(z):
    """Return log(1 + exp(z)), float64."""
    return max(z, 0.0) + np.log1p(np.exp(-abs(z)))


@njit(cache=True, inline="always")
def sigmoid(z):
    """Return 1 / (1 + exp(-z)), float64."""
    smaller = np.exp(-abs(z))
    return (1.0 if z >= 0 else smaller) / (1 + smaller)
