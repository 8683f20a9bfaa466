"""Opt-AUC with a bias per label, as in the BPR of third-party packages.

The score of label c for image i is <v_i, v_c> + b_c, where v_i and v_c are vectors and b_c is the bias.
"""

import numpy as np
from numba import njit

from vsebench.data.problem import Matrix, Problem
from vsebench.kernels.products import margin
from vsebench.kernels.sgd.opt_auc import fetch_triple
from vsebench.kernels.sgd.pipeline import (
    BATCH,
    advance,
    batch_size,
    choose_and_read,
    turns,
)
from vsebench.kernels.sgd.steps import exact_product, logistic, sgd_step
from vsebench.kernels.vectors import FASTMATH, NO_ALLOCATION, aligned
from vsebench.methods.base import Progress
from vsebench.methods.by_labels.sgd import SgdMethod, SgdSettings
from vsebench.models import Embeddings


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def opt_auc_biases_epoch(embedding, biases, pipeline, steps, rates, streams):
    """Take `steps` steps of stochastic gradient descent with the loss log(1 + exp(-m)).

    Here m = <v_i, v_p - v_n> + b_p - b_n for an image i, its positive p and a negative n. Each step draws i and p, then
    draws n uniformly, and moves each parameter v (v_i, v_p, v_n, b_p and b_n) by
    eta (1 / (1 + exp(m)) dm/dv - lambda v). Steps for an image that has every label are skipped, because it has no
    negative.

    Parameters
    ----------
    embedding : `Embedding`, updated
    biases : (n_labels,) float32, bias b_c of each label c; updated
    pipeline : `Pipeline` of the positives from which (i, p) is drawn
    steps : integer
    rates : `Rates`, eta and lambda
    streams : `Streams`, of which `positives` and `negatives` are advanced

    Returns
    -------
    mean loss of the steps, float64
    """
    learning_rate = np.float32(rates.learning_rate)
    shrinkage = np.float32(rates.learning_rate * rates.regularisation)
    loss = 0.0
    for first in turns(steps):
        growth = 1.0  # the product of all 1 + exp(-|m|), which needs one logarithm per batch
        for t in range(BATCH):
            choose_and_read(t, pipeline, first, steps, streams.positives)
            if t < batch_size(steps, first + BATCH):
                fetch_triple(t, pipeline, embedding, streams.negatives)
            i, p, _, _, n = pipeline.stepping[t]
            if t >= batch_size(steps, first) or n < 0:
                continue
            m = margin(embedding, i, p, n) + biases[p] - biases[n]
            decay, slope = logistic(m)
            size = exact_product(learning_rate, slope)
            growth *= 1.0 + decay
            loss += max(-m, np.float32(0))
            sgd_step(embedding, i, p, n, size, shrinkage)
            biases[p] += size - shrinkage * biases[p]
            biases[n] -= size + shrinkage * biases[n]
        loss += np.log(growth)
        pipeline = advance(pipeline)
    return loss / steps


class OptAucBiases(SgdMethod):
    """Opt-AUC with biases, which have the same learning rate and regularisation as the vectors."""

    settings_type = SgdSettings

    def __init__(self, problem: Problem, settings: SgdSettings) -> None:
        train = problem.training.labels
        super().__init__(problem, settings)
        self.biases = aligned(train.n_labels)

    def epoch(self) -> Progress:
        loss = opt_auc_biases_epoch(self.embedding, self.biases, self.pipeline, self.steps, self.rates, self.rng)
        return Progress(loss, trials=1.0)  # the first negative is taken

    def model(self) -> Embeddings:
        return with_biases(super().model(), self.biases)


def with_biases(model: Embeddings, biases: Matrix) -> Embeddings:
    """Return the embeddings of `model` with the labels' biases as an additional factor.

    `biases` has shape (n_labels,) and dtype float32. The additional factor of every image is 1.
    """
    ones = np.ones((len(model.image), 1), dtype=np.float32)
    return Embeddings(np.hstack([model.image, ones]), np.hstack([model.label, biases[:, np.newaxis]]))
