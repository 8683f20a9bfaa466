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
    candidates : (BATCH,) int64, labels drawn in advance for the next trials; they do not depend on the image, so their
        16 vectors are prefetched together
    n_used : (1,) int64, how many of the candidates have been tried
    """

    maximum: int
    rank_loss: NDArray[np.float64]
    candidates: NDArray[np.int64]
    n_used: NDArray[np.int64]


def new_trials(n_labels: int, maximum: int | None = None) -> Trials:
    """Return `Trials`; without a maximum, the number of trials is limited by the image's number of negatives."""
    return Trials(
        maximum or n_labels, rank_losses(n_labels), np.zeros(BATCH, dtype=np.int64), np.full(1, BATCH, dtype=np.int64)
    )


def one_trial(n_labels: int) -> Trials:
    """Return `Trials` with one negative per step and weights of 1, which turn WARP into the margin loss for AUC."""
    return new_trials(n_labels, 1)._replace(rank_loss=np.ones(n_labels + 1))


@njit(cache=True, inline="always")
def next_candidate(trials, labels, rng):
    """Return a label drawn uniformly from all labels.

    Whenever all candidates are used, 16 new ones are drawn, and their rows of `labels`, (n_labels, K) float32, are
    prefetched.
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

    If a draw gives a positive, it is repeated and does not count as a trial. The score of label n is the inner product
    of row i of `images`, (m, K) float32, and row n of `labels`, (n_labels, K) float32.

    Returns the last label drawn, the amount by which it violates the margin (float32, at most 0 if it does not), and
    the number of trials; 0, 0 and 0 if the image has every label.
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
    """Take `steps` steps that lower L(floor(N / trials)) max(0, 1 - <v_i, v_p - v_n>).

    Negatives n are drawn with replacement until one violates the margin: 1 + <v_i, v_n> > <v_i, v_p>. In the formula,
    "trials" is the number of these draws, N is the number of labels that the image does not have, and L is `rank_loss`
    of the argument `trials`. A step moves v_i, v_p and v_n by eta (L dm/dv - lambda v), m = <v_i, v_p - v_n>. Then it
    scales each of them down to the norm `max_norm` if it is longer; with `max_norm` 0, norms are not limited. If no
    drawn negative violates the margin, a step changes nothing.

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
