"""One weight vector per label, f_c(x) = <w_c, x>, trained on pairs of a positive and a negative, or on every label.

Sources: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010 (WARP for the linear model); Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, "Online
passive-aggressive algorithms", JMLR 7, 2006, PA-I (the passive-aggressive step); Grangier and Bengio, "A discriminative
kernel-based approach to rank images from text queries", IEEE PAMI 30(8), 2008 (the passive-aggressive step on pairs).
"""

import numpy as np
from numba import njit

from vsebench.kernels.random_numbers import below
from vsebench.kernels.sgd.image_rows import add_row, add_to_rows, score, sum_of_rows
from vsebench.kernels.sgd.sampling import draw_negative
from vsebench.kernels.vectors import FASTMATH, NO_ALLOCATION


@njit(cache=True, fastmath=FASTMATH, inline="always")
def find_linear_violator(weights, rows, i, positive_score, n_labels, row_labels, start, stop, maximum, rng, scores):
    """Draw negatives of image i until one violates the margin, in at most `maximum` trials.

    With sparse rows, the scores of all labels take about as long as n_labels / 64 single scores. After n_labels / 64
    trials, the scores of all labels are therefore computed together, and the next trials look them up.

    scores : (1, K) float32, scratch memory; K is `padded_size` of the number of labels

    Returns the last label drawn, the amount by which it violates the margin (float32, at most 0 if it does not), and
    the number of trials; 0, 0 and 0 if the image has every label.
    """
    limit = min(maximum, n_labels - (stop - start))
    trials_before_all = n_labels // 64 if len(rows.columns) > 0 else limit
    n_trials = 0
    violation = np.float32(0)
    n = np.int64(0)
    while violation <= 0 and n_trials < limit:
        n = draw_negative(row_labels, start, stop, n_labels, rng)
        if n_trials == trials_before_all:
            sum_of_rows(rows, i, weights, scores)
        negative_score = score(rows, i, weights, n) if n_trials < trials_before_all else scores[0, n]
        violation = np.float32(1) - positive_score + negative_score
        n_trials += 1
    return n, violation, n_trials


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def linear_epoch(weights, rows, positives, n_labels, trials, steps, learning_rate, streams, scores):
    """Take `steps` steps that lower L(floor(N / trials)) max(0, 1 - f_p(x_i) + f_n(x_i)).

    Negatives n are drawn, with replacement, until one violates the margin. If none does within the maximum number
    of trials, the step changes nothing. N is the number of the image's negatives, and L is `rank_loss` of the argument
    `trials`. With one trial and L = 1, this is the margin loss for AUC. Of `trials`, only `maximum` and `rank_loss` are
    used.

    weights : from `new_weights`, updated
    scores : (1, K) float32, scratch memory; K is `padded_size` of the number of labels

    Returns the mean loss of the steps and the mean number of trials, float64.
    """
    loss = 0.0
    sum_of_trials = 0
    for _ in range(steps):
        i, p, start, stop = positives.pairs[below(streams.positives, len(positives.pairs))]
        n, violation, n_trials = find_linear_violator(
            weights, rows, i, score(rows, i, weights, p), n_labels, positives.row_labels, start, stop, trials.maximum,
            streams.negatives, scores,
        )  # fmt: skip
        sum_of_trials += n_trials
        if violation > 0:
            weight = trials.rank_loss[(n_labels - (stop - start)) // n_trials]
            loss += weight * violation
            add_row(rows, i, weights, p, np.float32(learning_rate * weight))
            add_row(rows, i, weights, n, -np.float32(learning_rate * weight))
    return loss / steps, sum_of_trials / steps


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def passive_aggressive_epoch(weights, rows, positives, n_labels, steps, aggressiveness, streams):
    """Take `steps` passive-aggressive steps on h = max(0, 1 - f_p(x_i) + f_n(x_i)), with n drawn uniformly.

    A step moves w_p by tau x_i and w_n by -tau x_i with tau = min(c, h / (2 |x_i|^2)), where c is `aggressiveness`:
    just far enough to reach a margin of 1, or as far as c allows. A step for an image with every label changes nothing.

    weights : from `new_weights`, updated

    Returns the mean loss of the steps and the mean number of negatives drawn, float64.
    """
    loss = 0.0
    n_drawn = 0
    for _ in range(steps):
        i, p, start, stop = positives.pairs[below(streams.positives, len(positives.pairs))]
        if stop - start == n_labels:
            continue
        n = draw_negative(positives.row_labels, start, stop, n_labels, streams.negatives)
        n_drawn += 1
        violation = np.float32(1) - score(rows, i, weights, p) + score(rows, i, weights, n)
        if violation > 0:
            loss += violation
            square = np.float32(2) * rows.squares[i]
            is_clipped = violation >= np.float32(aggressiveness) * square  # true also for an image of zeros
            size = np.float32(aggressiveness) if is_clipped else violation / square
            add_row(rows, i, weights, p, size)
            add_row(rows, i, weights, n, -size)
    return loss / steps, n_drawn / steps


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def one_vs_rest_epoch(weights, rows, n_labels, offsets, label_of_pair, order, aggressiveness, steps_of_labels):
    """Take a passive-aggressive step for each label and each image.

    A step moves w_c by tau t x, where t is 1 if the image has label c and -1 otherwise, h = max(0, 1 - t f_c(x)), and
    tau = min(a, h / |x|^2).

    weights : (d, K) float32, updated. It has a row per feature, padded like the rows of `ImageRows`, and a column per
        label. K is `padded_size` of the number of labels. The padding is 0 and stays 0.
    rows : `ImageRows` of the images
    n_labels : integer
    offsets, label_of_pair : arrays of a `LabelMatrix` with the labels of the images; each image's labels ascend
    order : (n,) int64, the images in the order of their steps
    aggressiveness : float, a
    steps_of_labels : (1, K) float32, scratch memory for the steps of one image; the padding is 0

    Returns the mean of h over images and labels, float64.
    """
    loss = 0.0
    limit = np.float32(aggressiveness)
    for i in order:
        sum_of_rows(rows, i, weights, steps_of_labels)
        square = rows.squares[i]
        slot, stop = offsets[i], offsets[i + 1]
        for c in range(n_labels):
            target = np.float32(-1)
            if slot < stop and label_of_pair[slot] == c:
                target = np.float32(1)
                slot += 1
            violation = np.float32(1) - target * steps_of_labels[0, c]
            size = np.float32(0)
            if violation > 0:
                loss += violation
                # An image of zeros has the square 0; it changes no weight, whatever `size` is.
                size = limit if violation >= limit * square else violation / square
            steps_of_labels[0, c] = size * target
        add_to_rows(rows, i, weights, steps_of_labels)
    return loss / (len(order) * n_labels)
