import numpy as np
import pytest

from benchmarks.biases.opt_auc import opt_auc_biases_epoch
from tests.reference import opt_auc as reference
from tests.reference.arrays import embedding_of, pipeline_of, streams, streams_and_twins
from vsebench.kernels.sgd.opt_auc import opt_auc_epoch
from vsebench.kernels.sgd.steps import Rates


def test_agrees_with_numpy(problem, agree):
    state, rngs = streams_and_twins(1)
    loss = opt_auc_epoch(problem.embedding, problem.pipeline, problem.steps, Rates(0.1, 0.05), state)
    expected = reference.opt_auc(*problem.twin, problem.rows, problem.pairs, problem.steps, 0.1, 0.05, *rngs[:2])
    assert loss == pytest.approx(expected, rel=1e-3)
    agree(problem.embedding, problem.twin)
    assert [int(stream[0]) for stream in state] == [rng.state for rng in rngs]


def test_agrees_with_numpy_with_biases(problem, agree):
    state, rngs = streams_and_twins(1)
    biases = np.linspace(0, 1, problem.n_labels)
    ours = biases.astype(np.float32)
    rates = Rates(0.1, 0.05)
    loss = opt_auc_biases_epoch(problem.embedding, ours, problem.pipeline, problem.steps, rates, state)
    expected = reference.opt_auc_biases(
        *problem.twin, biases, problem.rows, problem.pairs, problem.steps, 0.1, 0.05, *rngs[:2]
    )
    assert loss == pytest.approx(expected, rel=1e-3)
    agree(problem.embedding, problem.twin)
    np.testing.assert_allclose(ours, biases, rtol=2e-3, atol=2e-4)


def test_divergence_stays_visible():
    embedding = embedding_of(np.full((1, 4), 1e19), np.outer([1, -1], np.full(4, 1e19)))
    for seed in range(3):
        opt_auc_epoch(embedding, pipeline_of([[0]]), 5, Rates(1e9, 1.0), streams(seed))
    assert not all(np.isfinite(matrix).all() for matrix in embedding)
