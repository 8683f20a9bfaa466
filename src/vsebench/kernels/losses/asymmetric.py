"""The asymmetric loss of each label alone, of which the focal loss and the binary cross-entropy are special cases.

    positives   -(1 - p)^g log p
    negatives   -q^h log(1 - q),   q = max(0, p - margin)

with p = 1 / (1 + exp(-f)), g = `focus_positives` and h = `focus_negatives`. It is the focal loss if g = h and the
margin is 0, and the binary cross-entropy if g and h are 0 too. Arguments are those of `kernels.losses`.

Sources: Ridnik and others, "Asymmetric loss for multi-label classification", ICCV 2021, Eq. 4 to 7; Lin, Goyal,
Girshick, He and Dollar, "Focal loss for dense object detection", ICCV 2017, Eq. 4, without a factor for positives.
"""

import numpy as np
from numba import njit

from vsebench.kernels.losses.logistic import sigmoid, softplus


@njit(cache=True, nogil=True)
def asymmetric_loss(scores, images, offsets, labels, focus_positives, focus_negatives, margin):
    """Return the sum over images and labels of the asymmetric loss, float64.

    focus_positives, focus_negatives : float >= 0, the exponents g and h
    margin : float in [0, 1); a negative with a smaller p adds nothing
    """
    total = 0.0
    for row in range(len(scores)):
        slot, stop = offsets[images[row]], offsets[images[row] + 1]
        for k in range(scores.shape[1]):
            score = np.float64(scores[row, k])
            p, rest = sigmoid(score), sigmoid(-score)
            if slot < stop and labels[slot] == k:
                slot += 1
                weight, log_p = rest**focus_positives, -softplus(-score)
                total -= weight * log_p
                scores[row, k] = weight * (focus_positives * p * log_p - rest)
            elif p > margin:
                q = p - margin
                weight, log_of_rest = q**focus_negatives, -softplus(score) if margin == 0 else np.log(rest + margin)
                total -= weight * log_of_rest
                of_log = p if margin == 0 else p * rest / (rest + margin)
                scores[row, k] = weight * (of_log - focus_negatives * (p / q) * rest * log_of_rest)
            else:
                scores[row, k] = 0
    return total
