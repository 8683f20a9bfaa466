"""WARP: trials up to the first violator, the hinge weighted by the estimated rank.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Algorithm 1, with a maximum number of trials.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.pipeline import (
    BATCH,
    IMAGE,
    POSITIVE,
    advance,
    batch_size,
    choose_and_read,
    new_pipeline,
    prefetch_row,
    turns,
)
from vsebench.kernels.products import dot
from vsebench.kernels.random_numbers import below
from vsebench.kernels.sampling import contains
from vsebench.kernels.steps import project, sgd_step
from vsebench.kernels.vectors import FASTMATH


class Candidates(NamedTuple):
    """Labels drawn for trials to come. They do not depend on the image, so their vectors are prefetched 16 at a time.

    Attributes
    ----------
    labels : (BATCH,) int64
    n_used : (1,) int64, how many of them trials have used
    """

    labels: NDArray[np.int64]
    n_used: NDArray[np.int64]


@njit(cache=True, inline="always")
def new_candidates():
    """Return `Candidates` that are all used."""
    return Candidates(np.empty(BATCH, dtype=np.int64), np.full(1, BATCH))


@njit(cache=True, inline="always")
def next_candidate(candidates, labels, rng):
    """Return a label, each with the same probability.

    candidates : `Candidates`, updated
    labels : (n_labels, K) float32, vectors to prefetch
    rng : (1,) uint64, advanced by 16 draws whenever all candidates are used
    """
    if candidates.n_used[0] == BATCH:
        for c in range(BATCH):
            candidates.labels[c] = below(rng, len(labels))
            prefetch_row(labels, candidates.labels[c])
        candidates.n_used[0] = 0
    candidates.n_used[0] += 1
    return candidates.labels[candidates.n_used[0] - 1]


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def warp_epoch(embedding, positives, rank_loss, steps, max_trials, rates, max_norm, streams):
    """Take `steps` steps that lower L(floor((Y - 1) / trials)) max(0, 1 - <v_i, v_p - v_n>).

    Negatives are drawn with replacement until one violates the margin, 1 + s_in > s_ip. Y - 1 is the number of labels
    that the image does not carry. A step moves v_i, v_p and v_n by eta (L dm/dv - lambda v), m = <v_i, v_p - v_n>, and
    scales them back to the norm `max_norm`. Where no trial violates, nothing changes.

    Parameters
    ----------
    embedding : `Embedding`, updated
    positives : `Positives` that (i, p) is drawn from
    rank_loss : (n_labels + 1,) float64, L(k) = 1 + 1/2 + ... + 1/k (Eq. 5)
    steps : whole number
    max_trials : whole number; a step takes no more trials than this, nor than Y - 1
    rates : `Rates`, eta and lambda
    max_norm : float, C in Eq. 2 and 3; 0: no limit
    streams : `Streams`, of which `positives` and `negatives` are advanced

    Returns
    -------
    mean loss of the steps and mean number of trials, float64
    """
    images, labels = embedding
    shrinkage = np.float32(rates.learning_rate * rates.regularisation)
    pipeline, candidates = new_pipeline(), new_candidates()
    loss = 0.0
    total_trials = 0
    for first in turns(steps):
        for t in range(BATCH):
            choose_and_read(t, pipeline, positives, first, steps, streams.positives)
            if t < batch_size(steps, first + BATCH):
                prefetch_row(images, pipeline.fetching[t, IMAGE])
                prefetch_row(labels, pipeline.fetching[t, POSITIVE])
            if t >= batch_size(steps, first):
                continue
            i, p, start, stop = pipeline.stepping[t]
            n_negatives = len(labels) - (stop - start)
            positive_score = dot(images, i, labels, p)
            trials = 0
            violation = np.float32(0)
            n = 0
            while violation <= 0 and trials < min(max_trials, n_negatives):
                n = next_candidate(candidates, labels, streams.negatives)
                if not contains(positives.row_labels, start, stop, n):
                    violation = np.float32(1) - positive_score + dot(images, i, labels, n)
                    trials += 1
            total_trials += trials
            if violation > 0:
                weight = rank_loss[n_negatives // trials]
                loss += weight * violation
                sgd_step(embedding, i, p, n, np.float32(rates.learning_rate * weight), shrinkage)
                if max_norm > 0:
                    for matrix, row in ((images, i), (labels, p), (labels, n)):
                        project(matrix, row, np.float32(max_norm))
        pipeline = advance(pipeline)
    return loss / steps, total_trials / steps
