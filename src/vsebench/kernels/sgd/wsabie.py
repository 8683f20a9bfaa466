"""WSABIE: image features and labels are mapped into one space; the norms of the rows of both maps are limited.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, Algorithm 1 and Eq. 2 and 3. The module also has the baseline OWPC-SGD of figure 2. The
steps of this baseline minimise the paper's loss with the exact rank and all labels that violate the margin at once.

To project a row of a map is to scale the row down to the largest norm allowed, `max_norm`, if its norm is larger.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.products import dot
from vsebench.kernels.random_numbers import below
from vsebench.kernels.sgd.image_rows import add_four_rows, clear, column, sum_of_rows
from vsebench.kernels.sgd.pipeline import BATCH
from vsebench.kernels.sgd.sampling import contains
from vsebench.kernels.sgd.steps import project
from vsebench.kernels.sgd.warp import find_violator
from vsebench.kernels.vectors import FASTMATH, LANES, NO_ALLOCATION, add_up, aligned, broadcast, load, store


class Maps(NamedTuple):
    """The maps of features and of labels, updated in place, and scratch memory for one step.

    The score of label c for an image with the features x is f_c(x) = <w_c, V' x>, where w_c is row c of W.

    K is a multiple of 16: `padded_size` of the number of factors. The padding is 0 and stays 0.

    Attributes
    ----------
    features : (d, K) float32, V, one row per feature, padded like the rows of `ImageRows`
    labels : (n_labels, K) float32, W, one row per label
    image : (1, K) float32, V' x for the image of the step
    difference : (1, K) float32, the direction in which the step moves the rows of V
    """

    features: NDArray[np.float32]
    labels: NDArray[np.float32]
    image: NDArray[np.float32]
    difference: NDArray[np.float32]


def new_maps(features: NDArray[np.float32], labels: NDArray[np.float32]) -> Maps:
    """Return `Maps` with the initial maps V and W.

    features : (d, K) float32, V
    labels : (n_labels, K) float32, W
    """
    return Maps(features, labels, aligned(1, labels.shape[1]), aligned(1, labels.shape[1]))


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def shorten(features, j, step, square, max_norm):
    """Scale row j of `features` down to `max_norm` if its norm is larger and the step has moved the row.

    step : float32, the number by which `maps.difference` was multiplied; 0 if the row has not moved
    square : float32, the squared norm of the row
    """
    if step != 0 and max_norm > 0 and square > max_norm * max_norm:
        for f in range(0, features.shape[1], LANES):
            store(features, (j, f), (max_norm / np.sqrt(square)) * load(features, (j, f)))


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def move_feature(maps, rows, i, e, size, max_norm):
    """Add size * x_ij * `maps.difference` to row j of `maps.features`, and project this row.

    Here x_ij is `rows.values[e]`, and j is the feature of this number. The row's norm is computed in the loop that
    moves the row.
    """
    features, difference = maps.features, maps.difference
    j, step = column(rows, i, e), size * rows.values[e]
    squares = broadcast(np.float32(0))
    for f in range(0, features.shape[1], LANES):
        moved = load(features, (j, f)) + step * load(difference, (0, f))
        store(features, (j, f), moved)
        squares = squares + moved * moved
    shorten(features, j, step, add_up(squares), max_norm)


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def move_four_features(maps, rows, i, e, size, max_norm):
    """Do the same as `move_feature` for the numbers e to e + 3, but faster.

    The sums of squares of the four rows are computed side by side, so that none of them waits for another.
    """
    features, difference = maps.features, maps.difference
    a, b, c, d = column(rows, i, e), column(rows, i, e + 1), column(rows, i, e + 2), column(rows, i, e + 3)
    w, x = size * rows.values[e], size * rows.values[e + 1]
    y, z = size * rows.values[e + 2], size * rows.values[e + 3]
    of_a = of_b = of_c = of_d = broadcast(np.float32(0))
    for f in range(0, features.shape[1], LANES):
        direction = load(difference, (0, f))
        at_a, at_b = load(features, (a, f)) + w * direction, load(features, (b, f)) + x * direction
        at_c, at_d = load(features, (c, f)) + y * direction, load(features, (d, f)) + z * direction
        store(features, (a, f), at_a)
        store(features, (b, f), at_b)
        store(features, (c, f), at_c)
        store(features, (d, f), at_d)
        of_a, of_b = of_a + at_a * at_a, of_b + at_b * at_b
        of_c, of_d = of_c + at_c * at_c, of_d + at_d * at_d
    shorten(features, a, w, add_up(of_a), max_norm)
    shorten(features, b, x, add_up(of_b), max_norm)
    shorten(features, c, y, add_up(of_c), max_norm)
    shorten(features, d, z, add_up(of_d), max_norm)


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def move_features(maps, rows, i, size, max_norm):
    """Add size * x_ij * `maps.difference` to row j of `maps.features` for every feature j of image i.

    Here x_ij is the value of feature j. The moved rows are projected.
    """
    start, stop = rows.offsets[i], rows.offsets[i + 1]
    stop_of_fours = stop - (stop - start) % 4
    for e in range(start, stop_of_fours, 4):
        move_four_features(maps, rows, i, e, size, max_norm)
    for e in range(stop_of_fours, stop):
        move_feature(maps, rows, i, e, size, max_norm)


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def move_features_and_map(maps, rows, i, size, max_norm, following):
    """Do the same as `move_features` for image i, then map the image `following`.

    The function writes V' x to `maps.image`, where V is `maps.features` and x are the features of `following`.

    Dense images use all rows of V, so one pass over V does both. It moves four rows at a time, and uses them for V' x
    while they are in the L1 cache. V is larger than this cache, so two passes would take longer.
    """
    if len(rows.columns) > 0:
        move_features(maps, rows, i, size, max_norm)
        sum_of_rows(rows, following, maps.features, maps.image)
        return
    clear(maps.image)
    for e in range(rows.offsets[i], rows.offsets[i + 1], 4):  # dense rows are padded, so no number is left over
        move_four_features(maps, rows, i, e, size, max_norm)
        add_four_rows(rows, following, e - rows.offsets[i] + rows.offsets[following], maps.features, maps.image)


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def wsabie_step(maps, rows, i, p, n, size, max_norm, following):
    """Take one gradient step that raises the score of label p and lowers that of label n for image i.

    The step follows the gradient of the difference of these two scores, computed from the values before the step. The
    moved rows are projected. At the start, `maps.image` must contain V' x (`Maps`) for image i. After the step, it
    contains V' x for the image `following`.

    size : float32, the learning rate times the weight L(floor(N / T)) of the loss (`wsabie_epoch`)
    """
    labels = maps.labels
    for f in range(0, labels.shape[1], LANES):
        positive, negative, image = load(labels, (p, f)), load(labels, (n, f)), load(maps.image, (0, f))
        store(maps.difference, (0, f), positive - negative)
        store(labels, (p, f), positive + size * image)
        store(labels, (n, f), negative - size * image)
    move_features_and_map(maps, rows, i, size, max_norm, following)
    if max_norm > 0:
        project(labels, p, max_norm)
        project(labels, n, max_norm)


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def wsabie_epoch(maps, rows, positives, trials, steps, learning_rate, max_norm, streams):
    """Take `steps` steps that lower the hinge loss, with a weight that depends on the estimated rank of the positive.

    A step draws an image i with a positive p, and then negatives n, with replacement, until one violates the margin:
    1 + f_n(x_i) > f_p(x_i), where f_c(x_i) is the score of label c (`Maps`). The loss is then
    L(floor(N / T)) (1 - f_p(x_i) + f_n(x_i)). Here, N is the number of labels that the image does not have, T is the
    number of negatives drawn, and L is `trials.rank_loss`. If no drawn negative violates the margin, the step changes
    nothing. With one trial and L = 1, this is the margin loss for AUC.

    Returns the mean loss of the steps and the mean number of trials, float64.
    """
    trials.n_used[0] = BATCH
    loss = 0.0
    sum_of_trials = 0
    pair = below(streams.positives, len(positives.pairs))
    sum_of_rows(rows, positives.pairs[pair, 0], maps.features, maps.image)
    for number in range(1, steps + 1):
        i, p, start, stop = positives.pairs[pair]
        positive_score = dot(maps.image, 0, maps.labels, p)
        n, violation, n_trials = find_violator(
            maps.image, 0, maps.labels, positive_score, positives.row_labels, start, stop, trials, streams.negatives
        )  # fmt: skip
        sum_of_trials += n_trials
        if number < steps:
            pair = below(streams.positives, len(positives.pairs))
        following = positives.pairs[pair, 0]
        if violation > 0:
            weight = trials.rank_loss[(len(maps.labels) - (stop - start)) // n_trials]
            loss += weight * violation
            size = np.float32(learning_rate * weight)
            wsabie_step(maps, rows, i, p, n, size, np.float32(max_norm), following)
        else:
            sum_of_rows(rows, following, maps.features, maps.image)
    return loss / steps, sum_of_trials / steps


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def find_all_violators(maps, p, row_labels, start, stop, violators):
    """Write the ids of all violators to the beginning of `violators`.

    A violator is a negative whose score is greater than the score of label p minus 1. The scores are those of the image
    that was mapped to `maps.image`.

    violators : (n_labels,) int32

    Returns the number of violators, and the sum of their violations of the margin, float64.
    """
    labels = maps.labels
    positive_score = dot(maps.image, 0, labels, p)
    n_violators = 0
    total = 0.0
    for n in range(len(labels)):
        violation = np.float32(1) - positive_score + dot(maps.image, 0, labels, n)
        if violation > 0 and not contains(row_labels, start, stop, n):
            violators[n_violators] = n
            n_violators += 1
            total += violation
    return n_violators, total


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def owpc_step(maps, rows, i, p, violators, n_violators, size, max_norm):
    """Take one gradient step that raises the score of label p and lowers those of all violators for image i.

    The step follows the gradient of the sum of f_p(x_i) - f_n(x_i) over the violators n, where f_c(x_i) is the score of
    label c (`Maps`). The gradient is computed from the values before the step. The moved rows are projected.

    violators : integers, the ids of the violators, in the first `n_violators` elements
    size : float32, the learning rate times the weight L(k) / k of the sum, where k is `n_violators`
    """
    labels = maps.labels
    number = np.float32(n_violators)
    for f in range(0, labels.shape[1], LANES):
        image, positive = load(maps.image, (0, f)), load(labels, (p, f))
        difference = number * positive
        for v in range(n_violators):
            negative = load(labels, (violators[v], f))
            difference = difference - negative
            store(labels, (violators[v], f), negative - size * image)
        store(maps.difference, (0, f), difference)
        store(labels, (p, f), positive + size * (number * image))
    move_features(maps, rows, i, size, max_norm)
    if max_norm > 0:
        project(labels, p, max_norm)
        for v in range(n_violators):
            project(labels, violators[v], max_norm)


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def owpc_epoch(maps, rows, positives, rank_loss, violators, steps, learning_rate, max_norm, streams):
    """Take `steps` steps that lower the hinge losses of a positive p and all labels that violate the margin.

    For image i, the violators are the k labels n that the image does not have and for which
    1 - f_p(x_i) + f_n(x_i) > 0, where f_c(x_i) is the score of label c (`Maps`). The loss is the sum of these
    differences, times L(k) / k.

    rank_loss : (n_labels + 1,) float64, L(k) = 1 + 1/2 + ... + 1/k
    violators : (n_labels,) int32, scratch memory for one step

    Returns two float64 numbers: the mean loss of a step, and how many labels each step scores, n_labels.
    """
    loss = 0.0
    for _ in range(steps):
        i, p, start, stop = positives.pairs[below(streams.positives, len(positives.pairs))]
        sum_of_rows(rows, i, maps.features, maps.image)
        n_violators, total = find_all_violators(maps, p, positives.row_labels, start, stop, violators)
        if n_violators > 0:
            weight = rank_loss[n_violators] / n_violators
            loss += weight * total
            size = np.float32(learning_rate * weight)
            owpc_step(maps, rows, i, p, violators, n_violators, size, np.float32(max_norm))
    return loss / steps, float(len(maps.labels))
