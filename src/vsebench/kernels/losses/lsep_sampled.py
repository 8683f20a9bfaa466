"""LSEP over a sample of an image's pairs, as the paper proposes for many labels.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 9. The loss
over all pairs costs no more (`kernels.lsep`).
"""

import numpy as np
from numba import njit

from vsebench.kernels.losses.shares import sigmoid, softplus
from vsebench.kernels.random_numbers import below


@njit(cache=True, inline="always")
def draw_pairs(ids, n_pairs, n_drawn, rng):
    """Put `n_drawn` of the numbers 0 to n_pairs - 1 in front of `ids`, each as likely as the others, none twice.

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
    """Write the labels that are not in labels[start:stop], which ascend, to `negatives`, (n_labels,) int32."""
    slot, count = start, 0
    for k in range(n_labels):
        if slot < stop and labels[slot] == k:
            slot += 1
        else:
            negatives[count] = k
            count += 1


@njit(cache=True, nogil=True)
def lsep_sampled_loss(scores, images, offsets, labels, most_pairs, scaled, ids, negatives, slopes, rng):
    """Return the sum over images of log(1 + sum of exp(f_v - f_u) over some of its pairs), float64.

    Its derivatives are written over `scores`.

    Parameters
    ----------
    scores : (m, n_labels) float32, overwritten with the derivatives
    images : (m,) int64, the image of each row
    offsets, labels : (n + 1,) int64 and int32: image i has labels[offsets[i]:offsets[i + 1]], ascending
    most_pairs : integer; where an image has more pairs, this many are drawn at random, anew at each visit
    scaled : whether the sum is multiplied by the number of pairs over that of the drawn ones
    ids : (most pairs of an image,) int32, room for one image
    negatives, slopes : (n_labels,) int32 and float64, room for one image
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
