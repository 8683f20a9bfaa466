"""LSEP over a sample of an image's pairs, which the paper proposes for many labels.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 9. The loss
over all pairs takes no more time (`exponentials.lsep_loss`).
"""

import numpy as np
from numba import njit

from vsebench.kernels.losses.logistic import sigmoid, softplus
from vsebench.kernels.random_numbers import below


@njit(cache=True, inline="always")
def draw_pairs(ids, n_pairs, n_drawn, rng):
    """Write `n_drawn` of the numbers 0 to n_pairs - 1 to the front of `ids`, drawn uniformly without replacement.

    ids : (at least n_pairs,) int32, overwritten
    rng : (1,) uint64, advanced by `n_drawn` draws
    """
    for number in range(n_pairs):
        ids[number] = number
    for slot in range(n_drawn):
        other = slot + below(rng, n_pairs - slot)
        ids[slot], ids[other] = ids[other], ids[slot]


@njit(cache=True, inline="always")
def list_negatives(labels, start, stop, n_labels, negatives):
    """Write the labels that are not in labels[start:stop], which is ascending, to `negatives`, (n_labels,) int32."""
    slot, count = start, 0
    for k in range(n_labels):
        if slot < stop and labels[slot] == k:
            slot += 1
        else:
            negatives[count] = k
            count += 1


@njit(cache=True, nogil=True)
def lsep_sampled_loss(scores, images, offsets, labels, most_pairs, scaled, ids, negatives, slopes, rng):
    """Return the sum over images of log(1 + sum of exp(f_v - f_u) over a sample of the image's pairs), float64.

    scores, images, offsets, labels, slopes : as in `kernels.losses`
    most_pairs : integer; if an image has more pairs, this many are drawn, anew at each visit
    scaled : whether the sum is multiplied by the number of all pairs over the number of drawn pairs
    ids, negatives : (largest number of pairs of an image,) and (n_labels,) int32, scratch memory for one image
    rng : (1,) uint64, advanced
    """
    total = 0.0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        n_negatives = scores.shape[1] - (stop - start)
        n_pairs = (stop - start) * n_negatives
        drawn = min(n_pairs, most_pairs)
        list_negatives(labels, start, stop, scores.shape[1], negatives)
        draw_pairs(ids, n_pairs, drawn if drawn < n_pairs else 0, rng)
        largest = -np.inf
        for slot in range(drawn):
            u, v = labels[start + ids[slot] // n_negatives], negatives[ids[slot] % n_negatives]
            largest = max(largest, np.float64(scores[row, v]) - scores[row, u])
        slopes[:] = 0
        sum_of_pairs = 0.0
        for slot in range(drawn):
            u, v = labels[start + ids[slot] // n_negatives], negatives[ids[slot] % n_negatives]
            term = np.exp(np.float64(scores[row, v]) - scores[row, u] - largest)
            sum_of_pairs += term
            slopes[u] -= term
            slopes[v] += term
        z = largest + np.log(sum_of_pairs) if drawn > 0 else -np.inf
        if scaled and drawn > 0:
            z += np.log(n_pairs / drawn)
        total += softplus(z)
        scale = sigmoid(z) / sum_of_pairs if drawn > 0 else 0.0
        for k in range(scores.shape[1]):
            scores[row, k] = scale * slopes[k]
    return total
