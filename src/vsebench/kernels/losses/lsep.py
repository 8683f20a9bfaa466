"""LSEP, a smooth bound on the number of misordered pairs of a positive and a negative label: log(1 + A B).

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 7. The sum
over pairs is a product of two sums, so all pairs cost as much as the labels, and none has to be sampled.
"""

from numba import njit

from vsebench.kernels.losses.shares import sigmoid, softplus, take_exponentials, write_slopes
from vsebench.kernels.rank_loss import loss_of_rank
from vsebench.kernels.vectors import FASTMATH


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def lsep_loss(scores, images, offsets, labels, rank_loss, weighted, terms):
    """Return the sum over images of log(1 + sum of exp(f_v - f_u) over the pairs), float64.

    Its derivatives are written over `scores`. An image without a pair has a loss of 0.

    Parameters
    ----------
    scores : (m, n_labels) float32, overwritten with the derivatives
    images : (m,) int64, the image of each row
    offsets, labels : (n + 1,) int64 and int32: image i has labels[offsets[i]:offsets[i + 1]], ascending
    rank_loss : (n_labels + 1,) float64, 1 + 1/2 + ... + 1/k
    weighted
        Whether a pair is multiplied by `rank_loss[r]`, r the rank of its positive among all labels, counted from 1.
    terms : (n_labels,) float64, room for one image
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
