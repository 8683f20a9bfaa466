"""Losses on pairs of a positive u and a negative v of an image: all pairs, or pairs drawn anew at each evaluation.

f_u and f_v are the scores of u and v. `kernels.losses` describes all arguments but `rng`. The array `rng`, (1,) uint64,
is the state of the random numbers; each draw changes it. LSEP and BP-MLL over all pairs are in `exponentials.py`.
"""

import numpy as np
from numba import njit

from vsebench.kernels.losses.logistic import sigmoid, softplus
from vsebench.kernels.random_numbers import below
from vsebench.kernels.rank_loss import loss_of_rank
from vsebench.kernels.sgd.sampling import draw_negative
from vsebench.kernels.vectors import FASTMATH

# In the logistic loss on pairs, exponentials are taken of no smaller exponent, so that none of them is 0.
LOWEST_EXPONENT = -700.0
# The product of so many numbers from 1/2 to 1 does not underflow.
MOST_FACTORS = 1000


@njit(cache=True, nogil=True)
def hinge_loss(scores, images, offsets, labels, rank_loss, weighted, slopes):
    """Return the hinge loss, float64: the sum over images and their pairs of max(0, 1 + f_v - f_u).

    f_u and f_v are the scores of a pair of a positive u and a negative v. If `weighted`, the term of a pair is
    multiplied by L(r), where r is the rank of u, as in the authors' code for WARP.

    Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 6.
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


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def pair_logistic_loss(scores, images, offsets, labels, exponents, terms, slopes):
    """Return the sum over images of the mean of log(1 + exp(f_v - f_u)) over the image's pairs, float64.

    f_u and f_v are the scores of a pair of a positive u and a negative v. An image without a pair adds 0. Each label
    has one exponential, a_k = exp(f_k - the largest score of the image), from which a pair needs only a quotient:
    the derivative of its loss is a_v / (a_v + a_u).

    exponents, terms, slopes : (n_labels,) float64, scratch memory for one image

    Source: Zhang, Gong and Shah, "Fast zero-shot image tagging", CVPR 2016, Eq. 6. There, |Y| (L - |Y|) is the number
    of the image's pairs.
    """
    total = 0.0
    n_labels = scores.shape[1]
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        of_pair = 1.0 / max(1, (stop - start) * (n_labels - (stop - start)))
        largest = scores[row].max()
        for k in range(n_labels):
            exponents[k] = np.float64(scores[row, k]) - largest
        of_positives = exponents[labels[start:stop]]
        exponents[labels[start:stop]] = -np.inf
        for k in range(n_labels):
            terms[k] = np.exp(max(exponents[k], LOWEST_EXPONENT))
        terms[labels[start:stop]] = 0
        slopes[:] = 0
        for slot in range(stop - start):
            slope = 0.0
            for first in range(0, n_labels, MOST_FACTORS):
                last = first + MOST_FACTORS
                block = exponents[first:last], terms[first:last], slopes[first:last]
                loss_of_block, slope_of_block = add_pairs_of_positive(of_positives[slot], *block)
                total += of_pair * loss_of_block
                slope += slope_of_block
            of_positives[slot] = slope
        for k in range(n_labels):
            scores[row, k] = of_pair * slopes[k]
        for slot in range(stop - start):
            scores[row, labels[start + slot]] = -of_pair * of_positives[slot]
    return total


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def add_pairs_of_positive(exponent, exponents, terms, slopes):
    """Add the derivatives for the pairs of a positive u, and return the sums of their losses and of their derivatives.

    With d = f_v - f_u, the loss of a pair is max(d, 0) + log(1 + exp(-|d|)), and 1 / (1 + exp(-|d|)) is the larger one
    of s and 1 - s, where s is the derivative. The product of these factors has one logarithm.

    exponent : float64, the exponent of u; `pair_logistic_loss` defines it
    exponents, terms : (n,) float64, the exponents and the a_k of at most `MOST_FACTORS` labels; -infinity and 0 for
        positives
    slopes : (n,) float64; s is added for each label
    """
    of_positive = np.exp(max(exponent, LOWEST_EXPONENT))
    product, sum_of_differences, sum_of_slopes = 1.0, 0.0, 0.0
    for k in range(len(terms)):
        slope = terms[k] / (terms[k] + of_positive)
        slopes[k] += slope
        sum_of_slopes += slope
        product *= max(slope, 1 - slope)
        sum_of_differences += max(exponents[k] - exponent, 0.0)
    return sum_of_differences - np.log(product), sum_of_slopes


@njit(cache=True, nogil=True)
def trial_hinge_loss(scores, images, offsets, labels, rank_loss, slopes, rng):
    """Return the WSABIE loss, float64, and the number of negatives that were drawn.

    For each positive u of an image, negatives v are drawn until one violates the margin, 1 + f_v > f_u. Here f_u and
    f_v are the scores of u and v. At most n negatives are drawn, where n is the number of the image's negatives. If the
    t-th negative violates the margin, u adds L(floor(n / t)) (1 + f_v - f_u) to the loss; L(k) is `rank_loss[k]`. If
    none of the n negatives does, u adds nothing. The array `labels` ends with `kernels.vectors.LANES` unused numbers.

    Source: Weston, Bengio and Usunier, "WSABIE: scaling up to large vocabulary image annotation", IJCAI 2011; used as
    a loss of networks by Gong and others, "Deep convolutional ranking for multilabel image annotation", 2013.
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


@njit(cache=True, inline="always")
def draw_pairs(ids, n_pairs, n_drawn, rng):
    """Write `n_drawn` of the numbers 0 to n_pairs - 1, drawn uniformly without replacement, to the front of `ids`.

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
    """Write the labels that are not in labels[start:stop] to the front of `negatives`, in ascending order.

    labels[start:stop] must be in ascending order. `negatives` is (n_labels,) int32.
    """
    slot, count = start, 0
    for k in range(n_labels):
        if slot < stop and labels[slot] == k:
            slot += 1
        else:
            negatives[count] = k
            count += 1


@njit(cache=True, nogil=True)
def lsep_sampled_loss(scores, images, offsets, labels, most_pairs, scaled, ids, negatives, slopes, rng):
    """Return the sampled LSEP loss, float64: the sum over images of log(1 + sum of exp(f_v - f_u)).

    The inner sum is over a sample of the image's pairs of a positive u and a negative v, with scores f_u and f_v. The
    loss over all pairs, `exponentials.lsep_loss`, takes no more time.

    most_pairs : integer; if an image has more pairs, this number of them is drawn each time the image is visited
    scaled : whether the inner sum is multiplied by (number of the image's pairs) / (number of drawn pairs)
    ids, negatives : (largest number of pairs of an image,) and (n_labels,) int32, scratch memory for one image

    Source: Li, Song and Luo (see `hinge_loss`), Eq. 9. They propose the sampling for large numbers of labels.
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
