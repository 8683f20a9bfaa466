"""Linear models with one weight vector per label, trained on pairs of a positive and a negative, or on every label.

The score of label c for an image with the features x is f_c(x) = <w_c, x>.

Sources:

- WARP for the linear model: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint
  word-image embeddings", Machine Learning 81(1), 2010.
- The passive-aggressive step: Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, "Online passive-aggressive
  algorithms", JMLR 7, 2006, PA-I.
- The passive-aggressive step on pairs: Grangier and Bengio, "A discriminative kernel-based approach to rank images from
  text queries", IEEE PAMI 30(8), 2008.
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

    A negative violates the margin if its score is greater than `positive_score` - 1.

    With sparse rows, computing the scores of all labels together takes about as long as computing n_labels / 64 single
    scores. After n_labels / 64 trials, the scores of all labels are therefore computed together, and the next trials
    look them up.

    scores : (1, K) float32, scratch memory; K is `padded_size` of the number of labels

    Returns the last label drawn, the amount by which it violates the margin (float32), and the number of trials. If the
    label does not violate the margin, the amount is at most 0. If the image has every label, all three numbers are 0.
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
    """Take `steps` steps that lower the hinge loss, with a weight that depends on the estimated rank of the positive.

    A step draws an image i with a positive p, and then negatives n, with replacement, until one violates the margin:
    1 + f_n(x_i) > f_p(x_i), where f_c(x_i) = <w_c, x_i> is the score of label c. The loss is then
    L(floor(N / T)) (1 - f_p(x_i) + f_n(x_i)). Here, N is the number of the image's negatives, T is the number of
    trials, and L is `trials.rank_loss`. If no negative violates the margin within the maximum number of trials, the
    step changes nothing. With one trial and L = 1, this is the margin loss for AUC.

    weights : from `new_weights`, updated
    trials : `Trials`, of which only `maximum` and `rank_loss` are used
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
    """Take `steps` passive-aggressive steps, each on a positive p and a uniformly drawn negative n of an image i.

    The loss of a step is h = max(0, 1 - f_p(x_i) + f_n(x_i)), where f_c(x_i) = <w_c, x_i> is the score of label c. The
    step adds tau x_i to w_p and subtracts tau x_i from w_n, where tau = min(a, h / (2 |x_i|^2)) and a is
    `aggressiveness`. If h > 0, the step thus reaches a margin of 1, unless `aggressiveness` limits tau. A step for an
    image with every label changes nothing.

    weights : from `new_weights`, updated
    aggressiveness : float, a

    Returns the mean loss of the steps and the mean number of negatives drawn per step, float64.
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

    For label c and an image with the features x, let t be 1 if the image has the label, and -1 otherwise. The loss is
    h = max(0, 1 - t f_c(x)), where f_c(x) = <w_c, x> is the label's score. The step adds tau t x to w_c, where
    tau = min(a, h / |x|^2).

    weights : (d, K) float32, updated. Column c is w_c. There is a row per feature, padded like the rows of `ImageRows`,
        and K is `padded_size` of the number of labels. The padding is 0 and stays 0.
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
