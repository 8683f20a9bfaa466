"""Steps with the exact rank: all violators of the margin at once, with a weight that depends on their number.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, the baseline OWPC-SGD of figure 2, which minimises the paper's own loss.
"""

import numpy as np
from numba import njit

from vsebench.kernels.products import dot
from vsebench.kernels.random_numbers import below
from vsebench.kernels.sgd.image_rows import sum_of_rows
from vsebench.kernels.sgd.sampling import contains
from vsebench.kernels.sgd.steps import project
from vsebench.kernels.sgd.wsabie import move_features
from vsebench.kernels.vectors import FASTMATH, LANES, NO_ALLOCATION, load, store


@njit(cache=True, fastmath=FASTMATH, inline="always")
def find_all_violators(maps, p, row_labels, start, stop, violators):
    """Write the ids of the labels that the image does not carry and that score above f_p - 1; `maps.image` is V' x.

    violators : (n_labels,) int32, written from its start

    Returns the number of violators, and the sum of the amounts by which they violate the margin, float64.
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


@njit(cache=True, fastmath=FASTMATH, inline="always")
def owpc_step(maps, rows, i, p, violators, n_violators, size, max_norm):
    """Take one gradient step on the sum of f_p(x_i) - f_n(x_i) over the violators n, and project the moved rows.

    The gradient is computed from the values before the step. `size`, float32, is the learning rate times the weight.
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
    """Take `steps` steps that lower L(k) / k times the sum of 1 - f_p(x_i) + f_n(x_i) over the k violators n.

    rank_loss : (n_labels + 1,) float64, L(k) = 1 + 1/2 + ... + 1/k
    violators : (n_labels,) int32, scratch memory for one step

    Returns the mean loss of the steps and the number of labels scored in each, float64.
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
