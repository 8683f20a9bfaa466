"""The logistic loss of all pairs of an image: the mean of log(1 + exp(f_v - f_u)) over positives u and negatives v.

Source: Zhang, Gong and Shah, "Fast zero-shot image tagging", CVPR 2016, Eq. 6, with its weight 1 / (|Y| (L - |Y|)).
"""

import numpy as np
from numba import njit

from vsebench.kernels.vectors import FASTMATH


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def pair_logistic_loss(scores, images, offsets, labels, slopes):
    """Return the sum over images of the mean over their pairs, float64; an image without a pair adds nothing.

    Its derivatives are written over `scores`.

    Parameters
    ----------
    scores : (m, n_labels) float32, overwritten with the derivatives
    images : (m,) int64, the image of each row
    offsets, labels : (n + 1,) int64 and int32: image i has labels[offsets[i]:offsets[i + 1]], ascending
    slopes : (n_labels,) float64, room for one image
    """
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
