"""The likelihood of labels under the votes of an image's neighbours, with derivatives.

These arguments have the same meaning in all functions:

logits : (n, k) float64; softmax turns row i into the vote shares of image i's k neighbours
near : (n, k) int32, the numbers of each image's k neighbours
offsets, labels : (n + 1,) int64 and (n_pairs,) int32; labels[offsets[i]:offsets[i + 1]] are the labels of image i
costs : (2,) float64, the weight of each negative pair (an image and a label that the image lacks), and the weight of
    each positive pair (an image and one of its labels)
"""

import numpy as np
from numba import njit

from vsebench.kernels.losses.logistic import sigmoid, softplus

SURE = 1e-5  # smallest probability of a label; 1 - SURE is the largest, so that no log p is infinite


@njit(cache=True)
def votes_of(logits, near, offsets, labels, shares, votes):
    """Write the vote share of each neighbour of an image to `shares`, and the votes of each label to `votes`.

    The votes of a label are the sum of the vote shares of the neighbours that have the label. `shares` is (k,) float64,
    and `votes` is (n_labels,) float64. Here, `logits` and `near` are (k,), the rows of the image.
    """
    largest, total = logits.max(), 0.0
    for slot in range(len(near)):
        shares[slot] = np.exp(logits[slot] - largest)
        total += shares[slot]
    votes[:] = 0
    for slot in range(len(near)):
        shares[slot] /= total
        for pair in range(offsets[near[slot]], offsets[near[slot] + 1]):
            votes[labels[pair]] += shares[slot]


@njit(cache=True, nogil=True)
def negative_log_likelihood(logits, near, offsets, labels, costs, alpha, beta, slopes):
    """Return minus the weighted sum over images and labels of log p, float64.

    The weights are `costs`. For a positive pair, p is the model's probability that the image has the label; for a
    negative pair, p is the probability that the image lacks the label. If the label has x votes (see `votes_of`), the
    probability that the image has the label is sigmoid(alpha x + beta), with the label's alpha and beta. If `alpha` and
    `beta` are empty, this probability is SURE + (1 - 2 SURE) x.

    alpha, beta : (n_labels,) float64, or both empty; the number of labels is `len(slopes[1])`
    slopes : two float64 arrays: (n, k), overwritten with the derivative with respect to each logit, and (n_labels,),
        scratch memory
    """
    of_logits, of_votes = slopes
    k, n_labels = logits.shape[1], len(of_votes)
    shares, votes, has = np.empty(k), np.empty(n_labels), np.zeros(n_labels, dtype=np.bool_)
    total = 0.0
    for i in range(len(logits)):
        votes_of(logits[i], near[i], offsets, labels, shares, votes)
        has[:] = False
        for pair in range(offsets[i], offsets[i + 1]):
            has[labels[pair]] = True
        for c in range(n_labels):
            cost = costs[1] if has[c] else costs[0]
            sign = 1.0 if has[c] else -1.0
            if len(alpha):
                z = sign * (alpha[c] * votes[c] + beta[c])
                total += cost * softplus(-z)
                of_votes[c] = -cost * sign * alpha[c] * sigmoid(-z)
            else:
                p = SURE + (1 - 2 * SURE) * (votes[c] if has[c] else 1 - votes[c])
                total -= cost * np.log(p)
                of_votes[c] = -cost * sign * (1 - 2 * SURE) / p
        mean = 0.0
        for slot in range(k):
            slope = 0.0
            for pair in range(offsets[near[i, slot]], offsets[near[i, slot] + 1]):
                slope += of_votes[labels[pair]]
            of_logits[i, slot] = slope
            mean += shares[slot] * slope
        for slot in range(k):
            of_logits[i, slot] = shares[slot] * (of_logits[i, slot] - mean)
    return total


@njit(cache=True, nogil=True)
def sigmoid_sums(logits, near, offsets, labels, costs, alpha, beta, sums):
    """Write each label's part of `negative_log_likelihood`, and the derivatives of this part, to `sums`.

    Probabilities are sigmoids here, so `alpha` and `beta` must not be empty.

    sums : (n_labels, 6) float64; a row contains the label's part, the first derivatives with respect to alpha and to
        beta, and the second derivatives with respect to alpha twice, to alpha and beta, and to beta twice
    """
    n_labels = len(sums)
    shares, votes, has = np.empty(logits.shape[1]), np.empty(n_labels), np.zeros(n_labels, dtype=np.bool_)
    sums[:] = 0
    for i in range(len(logits)):
        votes_of(logits[i], near[i], offsets, labels, shares, votes)
        has[:] = False
        for pair in range(offsets[i], offsets[i + 1]):
            has[labels[pair]] = True
        for c in range(n_labels):
            cost, sign = (costs[1], 1.0) if has[c] else (costs[0], -1.0)
            x = votes[c]
            z = sign * (alpha[c] * x + beta[c])
            wrong = sigmoid(-z)
            slope, curvature = -cost * sign * wrong, cost * wrong * (1 - wrong)
            sums[c, 0] += cost * softplus(-z)
            sums[c, 1] += slope * x
            sums[c, 2] += slope
            sums[c, 3] += curvature * x * x
            sums[c, 4] += curvature * x
            sums[c, 5] += curvature
