"""WARP as in LightFM, with Adagrad and a bias per label.

The score of label c for image i is <v_i, v_c> + b_c, where v_i and v_c are vectors and b_c is the bias.
"""

import numpy as np
from numba import njit
from pydantic import Field

from benchmarks.biases.adagrad import SquaredGradients, adagrad_step
from benchmarks.biases.opt_auc import with_biases
from vsebench.data.problem import Problem
from vsebench.kernels.products import dot
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
from vsebench.kernels.sgd.warp import new_trials, next_candidate
from vsebench.kernels.vectors import FASTMATH, NO_ALLOCATION, aligned
from vsebench.methods.base import Progress
from vsebench.methods.by_labels.sgd import SgdMethod, SgdSettings
from vsebench.models import Embeddings


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def warp_adaptive_epoch(embedding, biases, squares, pipeline, trials, steps, rates, streams):
    """Take `steps` Adagrad steps with the loss w max(0, 1 - m).

    Here m = <v_i, v_p - v_n> + b_p - b_n for an image i, its positive p and a negative n. Negatives are drawn with
    replacement until one violates the margin, which means that m < 1. Then each parameter v takes an Adagrad step along
    w dm/dv - lambda v. If no trial violates the margin, nothing changes.

    The weight w is L(floor(N / T)), where L is the rank loss, N is the number of labels that the image does not have,
    and T is the number of trials.

    Parameters
    ----------
    embedding : `Embedding`, updated
    biases : (n_labels,) float32, bias b_c of each label c; updated
    squares : `SquaredGradients`, updated
    pipeline : `Pipeline` of the positives from which (i, p) is drawn
    trials : `Trials`
    steps : integer
    rates : `Rates`, eta and lambda
    streams : `Streams`, of which `positives` and `negatives` are advanced

    Returns
    -------
    mean loss of the steps and mean number of trials, float64
    """
    images, labels = embedding
    learning_rate, regularisation = np.float32(rates.learning_rate), np.float32(rates.regularisation)
    trials.n_used[0] = BATCH
    loss = 0.0
    sum_of_trials = 0
    for first in turns(steps):
        for t in range(BATCH):
            choose_and_read(t, pipeline, first, steps, streams.positives)
            if t < batch_size(steps, first + BATCH):
                prefetch_row(images, pipeline.fetching[t, IMAGE])
                prefetch_row(labels, pipeline.fetching[t, POSITIVE])
                prefetch_row(squares.images, pipeline.fetching[t, IMAGE])
            if t >= batch_size(steps, first):
                continue
            i, p, start, stop, _ = pipeline.stepping[t]
            n_negatives = len(labels) - (stop - start)
            positive_score = dot(images, i, labels, p) + biases[p]
            n_trials = 0
            violation = np.float32(0)
            n = 0
            while violation <= 0 and n_trials < min(trials.maximum, n_negatives):
                n = next_candidate(trials, labels, streams.negatives)
                if not contains(pipeline.positives.row_labels, start, stop, n):
                    violation = np.float32(1) - positive_score + dot(images, i, labels, n) + biases[n]
                    n_trials += 1
            sum_of_trials += n_trials
            if violation > 0:
                weight = trials.rank_loss[n_negatives // n_trials]
                loss += weight * violation
                adagrad_step(embedding, biases, squares, i, p, n, np.float32(weight), learning_rate, regularisation)
        pipeline = advance(pipeline)
    return loss / steps, sum_of_trials / steps


class WarpAdaptiveSettings(SgdSettings):
    """Settings of WARP with Adagrad and biases."""

    trials: int | None = Field(ge=1)  # maximum number of trials per step; none: the number of negatives


class WarpAdaptive(SgdMethod):
    """WARP with Adagrad and biases; a step changes nothing if none of its trials violates the margin."""

    settings_type = WarpAdaptiveSettings
    settings: WarpAdaptiveSettings

    def __init__(self, problem: Problem, settings: WarpAdaptiveSettings) -> None:
        train = problem.training.labels
        super().__init__(problem, settings)
        self.biases = aligned(train.n_labels)
        self.squares = SquaredGradients(*(aligned(*a.shape) for a in (self.images, self.labels, self.biases)))
        for squares in self.squares:
            squares += 1  # as in LightFM, so no learning rate exceeds eta
        self.trials = new_trials(train.n_labels, settings.trials)

    def epoch(self) -> Progress:
        loss, trials = warp_adaptive_epoch(
            self.embedding, self.biases, self.squares, self.pipeline, self.trials, self.steps, self.rates, self.rng,
        )  # fmt: skip
        return Progress(loss, trials)

    def model(self) -> Embeddings:
        return with_biases(super().model(), self.biases)
