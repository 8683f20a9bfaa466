"""WARP: draw negatives until one violates the margin, and weight the hinge loss by the estimated rank.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Algorithm 1, with a maximum number of trials.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.products import dot
from vsebench.kernels.random_numbers import below
from vsebench.kernels.rank_loss import rank_losses
from vsebench.kernels.sgd.pipeline import (
    BATCH,
    IMAGE,
    POSITIVE,
    advance,
    batch_size,
    choose_and_read,
    prefetch_row,
    turns,
)
from vsebench.kernels.sgd.sampling import contains
from vsebench.kernels.sgd.steps import project, sgd_step
from vsebench.kernels.vectors import FASTMATH, NO_ALLOCATION


class Trials(NamedTuple):
    """The settings and the state of the search for negatives that violate the margin.

    Attributes
    ----------
    maximum : maximum number of trials per step; a step never takes more trials than the image has negatives
    rank_loss : (n_labels + 1,) float64, L(k) = 1 + 1/2 + ... + 1/k (Eq. 5 with alpha_j = 1/j)
    candidates : (BATCH,) int64, labels drawn in advance for the next trials. The draws do not depend on the image, so
        the vectors of these 16 labels are prefetched together.
    n_used : (1,) int64, how many of the candidates have been tried
    """

    maximum: int
    rank_loss: NDArray[np.float64]
    candidates: NDArray[np.int64]
    n_used: NDArray[np.int64]


def new_trials(n_labels: int, maximum: int | None = None) -> Trials:
    """Return `Trials` with a maximum number of trials per step.

    Without a maximum, only the number of an image's negatives limits the number of trials.
    """
    return Trials(
        maximum or n_labels, rank_losses(n_labels), np.zeros(BATCH, dtype=np.int64), np.full(1, BATCH, dtype=np.int64)
    )


def one_trial(n_labels: int) -> Trials:
    """Return `Trials` that turn WARP into the margin loss for AUC: one negative per step, and L = 1 for all ranks."""
    return new_trials(n_labels, 1)._replace(rank_loss=np.ones(n_labels + 1))


@njit(cache=True, inline="always")
def next_candidate(trials, labels, rng):
    """Return a label drawn uniformly from all labels.

    Whenever all candidates are used, 16 new ones are drawn, and their vectors are prefetched.

    labels : (n_labels, K) float32, the labels' vectors
    """
    if trials.n_used[0] == BATCH:
        for c in range(BATCH):
            trials.candidates[c] = below(rng, len(labels))
            prefetch_row(labels, trials.candidates[c])
        trials.n_used[0] = 0
    trials.n_used[0] += 1
    return trials.candidates[trials.n_used[0] - 1]


@njit(cache=True, fastmath=FASTMATH, inline="always")
def find_violator(images, i, labels, positive_score, row_labels, start, stop, trials, rng):
    """Draw negatives of image i until one violates the margin or no trial is left.

    A negative violates the margin if its score is greater than `positive_score` - 1. The score is the inner product of
    the vectors of the image and the negative. If a draw gives a positive, the draw is repeated and does not count as a
    trial.

    images : (m, K) float32, the images' vectors
    labels : (n_labels, K) float32, the labels' vectors

    Returns the last label drawn, the amount by which it violates the margin (float32), and the number of trials. If the
    label does not violate the margin, the amount is at most 0. If the image has every label, all three numbers are 0.
    """
    n_negatives = len(labels) - (stop - start)
    n_trials = 0
    violation = np.float32(0)
    n = np.int64(0)
    while violation <= 0 and n_trials < min(trials.maximum, n_negatives):
        n = next_candidate(trials, labels, rng)
        if not contains(row_labels, start, stop, n):
            violation = np.float32(1) - positive_score + dot(images, i, labels, n)
            n_trials += 1
    return n, violation, n_trials


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def warp_epoch(embedding, pipeline, trials, steps, rates, max_norm, streams):
    """Take `steps` steps that lower the hinge loss, with a weight that depends on the estimated rank of the positive.

    A step draws an image i with a positive p, and then negatives n, with replacement, until one violates the margin:
    1 + <v_i, v_n> > <v_i, v_p>. The loss is then L(floor(N / T)) (1 - m), where m = <v_i, v_p - v_n>. Here, N is the
    number of labels that the image does not have, T is the number of negatives drawn, and L is `trials.rank_loss`. The
    step adds eta (L(floor(N / T)) dm/dv - lambda v) to each vector v of v_i, v_p and v_n. Then each of these vectors
    whose norm is larger than `max_norm` is scaled down to `max_norm`. If no drawn negative violates the margin, the
    step changes nothing.

    rates : `Rates`, which contain eta and lambda
    max_norm : float; 0 means no limit

    Returns the mean loss of the steps and the mean number of trials, float64.
    """
    images, labels = embedding
    shrinkage = np.float32(rates.learning_rate * rates.regularisation)
    trials.n_used[0] = BATCH
    loss = 0.0
    sum_of_trials = 0
    for first in turns(steps):
        for t in range(BATCH):
            choose_and_read(t, pipeline, first, steps, streams.positives)
            if t < batch_size(steps, first + BATCH):
                prefetch_row(images, pipeline.fetching[t, IMAGE])
                prefetch_row(labels, pipeline.fetching[t, POSITIVE])
            if t >= batch_size(steps, first):
                continue
            i, p, start, stop, _ = pipeline.stepping[t]
            positive_score = dot(images, i, labels, p)
            n, violation, n_trials = find_violator(
                images, i, labels, positive_score, pipeline.positives.row_labels, start, stop, trials, streams.negatives
            )  # fmt: skip
            sum_of_trials += n_trials
            if violation > 0:
                weight = trials.rank_loss[(len(labels) - (stop - start)) // n_trials]
                loss += weight * violation
                sgd_step(embedding, i, p, n, np.float32(rates.learning_rate * weight), shrinkage)
                if max_norm > 0:
                    for matrix, row in ((images, i), (labels, p), (labels, n)):
                        project(matrix, row, np.float32(max_norm))
        pipeline = advance(pipeline)
    return loss / steps, sum_of_trials / steps
