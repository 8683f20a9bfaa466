import numpy as np
import pytest

from tests.reference import warp as reference
from tests.reference.arrays import embedding_of, streams, with_unused
from tests.reference.random_numbers import SplitMix64
from vsebench.kernels.ranking.rounding import NOT_ROUNDED, round_labels
from vsebench.kernels.sgd.steps import Rates
from vsebench.kernels.sgd.warp_published import warp_published_epoch


@pytest.mark.parametrize("rounding", [True, False])
def test_agrees_with_numpy(problem, agree, rounding):
    rng = streams(3).positives
    twin = SplitMix64(rng[0])
    offsets, row_labels = (
        np.cumsum([0, *map(len, problem.rows)]),
        with_unused([label for row in problem.rows for label in row]),
    )
    rounded = round_labels(problem.embedding.labels) if rounding else NOT_ROUNDED
    rates = Rates(0.1, 0.05)
    result = warp_published_epoch(problem.embedding, rounded, offsets, row_labels, problem.steps, rates, rng)
    expected = reference.warp_published(*problem.twin, problem.rows, problem.steps, 0.1, 0.05, twin)
    assert result == pytest.approx(expected, rel=1e-3)
    agree(problem.embedding, problem.twin)


@pytest.mark.parametrize("n_labels", [15, 16, 70, 200])
@pytest.mark.parametrize("size", [1e-3, 0.3, 2.0])
def test_the_same_with_and_without_rounding(n_labels, size):
    """Many labels, few violators, scores far from 1 and close to it."""
    results = []
    for rounding in (True, False):
        rng = np.random.default_rng(n_labels)
        embedding = embedding_of(rng.normal(0, size, (30, 40)), rng.normal(0, size, (n_labels, 40)))
        embedding.images[5], embedding.labels[7] = 0, embedding.labels[6]
        row_labels = with_unused(rng.integers(0, n_labels, 60))
        rounded = round_labels(embedding.labels) if rounding else NOT_ROUNDED
        state = streams(5).positives
        result = warp_published_epoch(
            embedding, rounded, np.arange(0, 61, 2), row_labels, 3000, Rates(0.1, 0.01), state
        )
        results.append((result, embedding.images.tobytes(), embedding.labels.tobytes(), state.tobytes()))
    assert results[0] == results[1]
