"""Measure the gain from `kernels/vectors.py`: Opt-AUC's steps, and the same loop in plain numba without that module.

Both use the same triples, drawn beforehand, so that they differ only in the loops over factors.
"""

import math
from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.clock import timed
from benchmarks.plan import SEED
from vsebench.data.problem import LabelMatrix
from vsebench.kernels.products import Embedding, margin
from vsebench.kernels.sgd.steps import logistic, sgd_step
from vsebench.kernels.vectors import FASTMATH, NO_ALLOCATION, fence
from vsebench.methods.by_labels.start import padded_start

RATE, SHRINKAGE, DEVIATION = np.float32(0.1), np.float32(0.001), 0.1
Triples = NDArray[np.int32]


def turns(train: LabelMatrix, factors: int) -> tuple[Callable[[], float], Callable[[], float]]:
    """Return two turns that take a step for each positive: with vectors, and without."""
    triples, embeddings = draw_triples(train), [start(train, factors) for _ in range(2)]
    return (
        timed(lambda: steps_with_vectors(embeddings[0], triples, RATE, SHRINKAGE)),
        timed(lambda: steps_without_vectors(embeddings[1], triples, RATE, SHRINKAGE)),
    )


def draw_triples(train: LabelMatrix) -> Triples:
    """Return triples (image, positive, random label), one per positive, (n_pairs, 3) int32, in random order."""
    rng = np.random.default_rng(SEED)
    order = rng.permutation(train.n_pairs)
    labels = rng.integers(0, train.n_labels, train.n_pairs)
    return np.stack(
        [train.image_of_pair[order], train.label_of_pair[order], labels], axis=1, dtype=np.int32, casting="same_kind"
    )


def start(train: LabelMatrix, factors: int) -> Embedding:
    """Return the initial embedding, the same in every call."""
    rng = np.random.default_rng(SEED)
    images, labels = (padded_start(n, factors, DEVIATION, rng) for n in (train.n_rows, train.n_labels))
    return Embedding(images, labels)


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def steps_with_vectors(embedding, triples, rate, shrinkage):  # type: ignore[no-untyped-def]
    """Take a step of Opt-AUC for each triple (n, 3) int32; return the sum of the losses."""
    loss = 0.0
    for t in range(len(triples)):
        i, p, n = triples[t]
        m = margin(embedding, i, p, n)
        decay, slope = logistic(m)
        loss += math.log1p(decay) + max(-m, np.float32(0))
        sgd_step(embedding, i, p, n, rate * fence(slope), shrinkage)
    return loss


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def steps_without_vectors(embedding, triples, rate, shrinkage):  # type: ignore[no-untyped-def]
    """Take a step of Opt-AUC for each triple (n, 3) int32; return the sum of the losses."""
    images, labels = embedding
    keep = np.float32(1) - shrinkage
    loss = 0.0
    for t in range(len(triples)):
        i, p, n = triples[t]
        m = np.float32(0)
        for f in range(images.shape[1]):
            m += images[i, f] * (labels[p, f] - labels[n, f])
        decay, slope = logistic(m)
        loss += math.log1p(decay) + max(-m, np.float32(0))
        size = rate * fence(slope)
        for f in range(images.shape[1]):
            image, positive, negative = images[i, f], labels[p, f], labels[n, f]
            images[i, f] = keep * image + size * (positive - negative)
            labels[p, f] = keep * positive + size * image
            labels[n, f] = keep * negative - size * image
    return loss
