"""WSABIE: an image's features and the labels are mapped into one space; rows of both maps stay inside a ball.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, Algorithm 1 and Eq. 2 and 3.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.image_rows import column, sum_of_rows
from vsebench.kernels.pipeline import BATCH
from vsebench.kernels.products import dot
from vsebench.kernels.random_numbers import below
from vsebench.kernels.steps import project
from vsebench.kernels.vectors import FASTMATH, LANES, NO_ALLOCATION, add_up, aligned, broadcast, load, store
from vsebench.kernels.warp import find_violator


class Maps(NamedTuple):
    """The maps of features and of labels, updated in place, and room for one step. f_c(x) = <w_c, V' x>.

    K is a multiple of 16: `padded_size` of the number of factors. The factors that pad it are 0 and stay 0.

    Attributes
    ----------
    features : (d, K) float32, V: a row per feature, padded as `ImageRows` says
    labels : (n_labels, K) float32, W: a row per label
    image : (1, K) float32, V' x of the image of the step
    difference : (1, K) float32, what the step adds to the rows of V, but for a factor
    """

    features: NDArray[np.float32]
    labels: NDArray[np.float32]
    image: NDArray[np.float32]
    difference: NDArray[np.float32]


def new_maps(features: NDArray[np.float32], labels: NDArray[np.float32]) -> Maps:
    """Return `Maps` that start from V (d, K) and W (n_labels, K), both float32."""
    return Maps(features, labels, aligned(1, labels.shape[1]), aligned(1, labels.shape[1]))


@njit(cache=True, fastmath=FASTMATH, inline="always")
def move_features(maps, rows, i, size, max_norm):
    """Add size * x_ij * `maps.difference` to row j of V for every feature j of image i, and project these rows.

    size, max_norm : float32; no row is projected where `max_norm` is 0

    A row's norm falls out of the loop that moves it.
    """
    features = maps.features
    limit = max_norm * max_norm
    for e in range(rows.offsets[i], rows.offsets[i + 1]):
        j = column(rows, i, e)
        step = size * rows.values[e]
        if step == 0:  # of a dense row: this feature's row stays as it is
            continue
        squares = broadcast(np.float32(0))
        for f in range(0, features.shape[1], LANES):
            moved = load(features, (j, f)) + step * load(maps.difference, (0, f))
            store(features, (j, f), moved)
            squares = squares + moved * moved
        square = add_up(squares)
        if max_norm > 0 and square > limit:
            for f in range(0, features.shape[1], LANES):
                store(features, (j, f), (max_norm / np.sqrt(square)) * load(features, (j, f)))


@njit(cache=True, fastmath=FASTMATH, inline="always")
def wsabie_step(maps, rows, i, p, n, size, max_norm):
    """Take one gradient step on f_p(x_i) - f_n(x_i), with `maps.image` = V' x_i, and project the rows that it touched.

    size : float32, learning rate times weight
    max_norm : float32, C in Eq. 2 and 3; 0: no limit

    All right-hand sides are values from before the step.
    """
    labels = maps.labels
    for f in range(0, labels.shape[1], LANES):
        positive, negative, image = load(labels, (p, f)), load(labels, (n, f)), load(maps.image, (0, f))
        store(maps.difference, (0, f), positive - negative)
        store(labels, (p, f), positive + size * image)
        store(labels, (n, f), negative - size * image)
    move_features(maps, rows, i, size, max_norm)
    if max_norm > 0:
        project(labels, p, max_norm)
        project(labels, n, max_norm)


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def wsabie_epoch(maps, rows, positives, trials, steps, learning_rate, max_norm, streams):
    """Take `steps` steps that lower L(floor((Y - n) / trials)) max(0, 1 - f_p(x_i) + f_n(x_i)).

    Negatives are drawn with replacement until one violates the margin, 1 + f_n > f_p. Y - n is the number of labels
    that the image does not carry. Where no trial violates, nothing changes. With one trial and weights of 1 this is the
    margin loss for AUC.

    Parameters
    ----------
    maps : `Maps`, updated
    rows : `ImageRows` of the images
    positives : `Positives`, that (i, p) is drawn from; their images are rows of `rows`
    trials : `Trials`
    steps : integer
    learning_rate : float, constant
    max_norm : float, C in Eq. 2 and 3; 0: no limit
    streams : `Streams`, of which `positives` and `negatives` are advanced

    Returns
    -------
    mean loss of the steps and mean number of trials, float64
    """
    trials.n_used[0] = BATCH
    loss = 0.0
    sum_of_trials = 0
    for _ in range(steps):
        i, p, start, stop = positives.pairs[below(streams.positives, len(positives.pairs))]
        sum_of_rows(rows, i, maps.features, maps.image)
        positive_score = dot(maps.image, 0, maps.labels, p)
        n, violation, n_trials = find_violator(
            maps.image, 0, maps.labels, positive_score, positives.row_labels, start, stop, trials, streams.negatives
        )  # fmt: skip
        sum_of_trials += n_trials
        if violation > 0:
            weight = trials.rank_loss[(len(maps.labels) - (stop - start)) // n_trials]
            loss += weight * violation
            wsabie_step(maps, rows, i, p, n, np.float32(learning_rate * weight), np.float32(max_norm))
    return loss / steps, sum_of_trials / steps
