"""The likelihood of labels under the votes of an image's neighbours, with derivatives.

These arguments have the same meaning in all functions:

logits : (n, k) float64; their softmax over the k neighbours gives the neighbours' shares of the votes
near : (n, k) int32, the row numbers of each image's neighbours
offsets, labels : (n + 1,) int64 and (n_pairs,) int32, the labels of each row; image i is row i
costs : (2,) float64, the weight of a negative pair (an image and a label that it lacks), and that of a positive pair
"""

import numpy as np
from numba import njit

from vsebench.kernels.losses.logistic import sigmoid, softplus

SURE = 1e-5  # smallest probability of a label; 1 - SURE is the largest, so that no log p is infinite


@njit(cache=True)
def votes_of(logits, near, offsets, labels, shares, votes):
    """Write the neighbours' shares of votes to `shares`, (k,), and each label's sum of shares to `votes`, (n_labels,).

    A label's sum is over the neighbours that have the label. Both arrays are float64. Here, `logits` and `near` are
    those of one image, (k,).
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

    p is the model's probability of the truth: that the image has the label, or that it lacks the label. If x is the
    label's sum of shares, the probability that the image has the label is SURE + (1 - 2 SURE) x, or
    sigmoid(alpha x + beta) if `alpha` is not empty.

    alpha, beta : (n_labels,) float64, or both empty; the number of labels is `len(slopes[1])`
    slopes : two float64 arrays: (n, k), which gets the derivative with respect to each logit, and (n_labels,), which is
        working memory
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
    """Write each label's part of `negative_log_likelihood` with sigmoids, and the derivatives of this part, to `sums`.

    sums : (n_labels, 6) float64: the value, the first derivatives with respect to alpha and to beta, and the second
        derivatives with respect to alpha, to alpha and beta, and to beta
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
