"""The hinge and the logistic loss over all pairs of a positive u and a negative v of an image.

The arguments of both are those of `kernels.losses`.

Sources: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 6 (hinge);
with `weighted`, pairs have weights, as in the authors' code for WARP. Zhang, Gong and Shah, "Fast zero-shot image
tagging", CVPR 2016, Eq. 6, with its weight 1 / (|Y| (L - |Y|)) (logistic loss).
"""

import numpy as np
from numba import njit

from vsebench.kernels.rank_loss import loss_of_rank
from vsebench.kernels.vectors import FASTMATH


@njit(cache=True, nogil=True)
def hinge_loss(scores, images, offsets, labels, rank_loss, weighted, slopes):
    """Return the sum over images and their pairs of max(0, 1 + f_v - f_u), float64."""
    total = 0.0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        slopes[:] = 0
        for slot in range(start, stop):
            score = scores[row, labels[slot]]
            weight = loss_of_rank(scores, row, labels[slot], rank_loss) if weighted else 1.0
            n_violators, other = 0, start
            for v in range(scores.shape[1]):
                if other < stop and labels[other] == v:
                    other += 1
                    continue
                violation = np.float32(1) - score + scores[row, v]
                if violation > 0:
                    total += weight * violation
                    slopes[v] += weight
                    n_violators += 1
            slopes[labels[slot]] -= weight * n_violators
        for v in range(scores.shape[1]):
            scores[row, v] = slopes[v]
    return total


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def pair_logistic_loss(scores, images, offsets, labels, slopes):
    """Return the sum over images of the mean of log(1 + exp(f_v - f_u)) over pairs, float64; 0 without a pair."""
    total = 0.0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        of_pair = 1.0 / max(1, (stop - start) * (scores.shape[1] - (stop - start)))
        slopes[:] = 0
        other = start
        for v in range(scores.shape[1]):
            if other < stop and labels[other] == v:
                other += 1
                continue
            for slot in range(start, stop):
                difference = np.float64(scores[row, v]) - scores[row, labels[slot]]
                smaller = np.exp(-abs(difference))
                total += of_pair * (max(difference, 0.0) + np.log1p(smaller))
                slope = of_pair * (1.0 if difference >= 0 else smaller) / (1 + smaller)
                slopes[v] += slope
                slopes[labels[slot]] -= slope
        for v in range(scores.shape[1]):
            scores[row, v] = slopes[v]
    return total
