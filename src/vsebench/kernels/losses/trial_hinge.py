"""WARP for a batch of images: for each positive, negatives are drawn until one violates the margin.

Source: Weston, Bengio and Usunier, "WSABIE: scaling up to large vocabulary image annotation", IJCAI 2011, as a loss of
a network: Gong and others, "Deep convolutional ranking for multilabel image annotation", 2013.
"""

import numpy as np
from numba import njit

from vsebench.kernels.sgd.sampling import draw_negative


@njit(cache=True, nogil=True)
def trial_hinge_loss(scores, images, offsets, labels, rank_loss, slopes, rng):
    """Return the sum over images and positives u of L(floor((K - n) / trials)) (1 + f_v - f_u), and the sum of trials.

    v is the first of the drawn negatives with 1 + f_v > f_u. The image has n of the K labels. At most K - n negatives
    are drawn; a positive for which none violates the margin adds nothing. Arguments are those of `kernels.losses`, with
    LANES unused numbers at the end of `labels`, and rng (1,) uint64, advanced.
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
