"""WARP for a batch of images: for each positive a violator is looked for by trials, and the rank follows from them.

Source: Weston, Bengio and Usunier, "WSABIE: scaling up to large vocabulary image annotation", IJCAI 2011, as a loss of
a network: Gong and others, "Deep convolutional ranking for multilabel image annotation", 2013.
"""

import numpy as np
from numba import njit

from vsebench.kernels.sgd.sampling import draw_negative


@njit(cache=True, nogil=True)
def trial_hinge_loss(scores, images, offsets, labels, rank_loss, slopes, rng):
    """Return the sum over images and positives u of L(floor((K - n) / trials)) (1 + f_v - f_u), and the trials;
    write the derivatives over `scores`.

    v is the first of the drawn negatives with 1 + f_v > f_u. At most K - n are drawn, the number of negatives; where
    none violates the margin, a positive adds nothing.

    Parameters
    ----------
    scores : (m, n_labels) float32, overwritten with the derivatives
    images : (m,) int64, the image of each row
    offsets, labels
        (n + 1,) int64 and int32: image i has labels[offsets[i]:offsets[i + 1]], ascending; LANES unused numbers at the
        end of `labels`.
    rank_loss : (n_labels + 1,) float64, L(k) = 1 + 1/2 + ... + 1/k
    slopes : (n_labels,) float64, room for one image
    rng : (1,) uint64, advanced

    Returns
    -------
    the loss, float64, and the number of trials
    """
    total, sum_of_trials = 0.0, 0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        n_negatives = scores.shape[1] - (stop - start)
        slopes[:] = 0
        for slot in range(start, stop):
            u, v, n_trials = labels[slot], 0, 0
            violation = np.float32(0)
            while violation <= 0 and n_trials < n_negatives:
                v = draw_negative(labels, start, stop, scores.shape[1], rng)
                violation = np.float32(1) - scores[row, u] + scores[row, v]
                n_trials += 1
            sum_of_trials += n_trials
            if violation > 0:
                weight = rank_loss[n_negatives // n_trials]
                total += weight * violation
                slopes[u] -= weight
                slopes[v] += weight
        for k in range(scores.shape[1]):
            scores[row, k] = slopes[k]
    return total, sum_of_trials
