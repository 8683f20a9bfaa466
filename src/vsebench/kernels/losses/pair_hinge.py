"""The hinge over all pairs of an image: max(0, 1 + f_v - f_u) for every positive u and negative v.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 6. With
`weighted`, each pair is multiplied by a weight of its positive's rank, as the authors' code does for WARP.
"""

import numpy as np
from numba import njit

from vsebench.kernels.rank_loss import loss_of_rank


@njit(cache=True, nogil=True)
def hinge_loss(scores, images, offsets, labels, rank_loss, weighted, slopes):
    """Return the sum over images of the sum over their pairs of max(0, 1 + f_v - f_u), float64.

    Its derivatives are written over `scores`.

    Parameters
    ----------
    scores : (m, n_labels) float32, overwritten with the derivatives
    images : (m,) int64, the image of each row
    offsets, labels : (n + 1,) int64 and int32: image i has labels[offsets[i]:offsets[i + 1]], ascending
    rank_loss : (n_labels + 1,) float64, 1 + 1/2 + ... + 1/k
    weighted
        Whether a pair is multiplied by `rank_loss[r]`, r the rank of its positive among all labels, counted from 1.
    slopes : (n_labels,) float64, room for one image
    """
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
