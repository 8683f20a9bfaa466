import numpy as np
import pytest
from scipy import stats

from benchmarks.biases.adagrad import SquaredGradients
from benchmarks.biases.warp import warp_adaptive_epoch
from tests.reference import warp as reference
from tests.reference.arrays import embedding_of, padded, pipeline_of, streams, streams_and_twins
from vsebench.kernels.sgd.steps import Rates
from vsebench.kernels.sgd.warp import new_trials, warp_epoch


@pytest.mark.parametrize(("maximum", "max_norm"), [(None, 0.0), (2, 0.0), (None, 0.9)])
def test_agrees_with_numpy(problem, agree, maximum, max_norm):
    state, rngs = streams_and_twins(2, 2)
    trials = new_trials(problem.n_labels, maximum)
    result = warp_epoch(problem.embedding, problem.pipeline, trials, problem.steps, Rates(0.02, 0.05), max_norm, state)
    maximum = maximum or problem.n_labels
    expected = reference.warp(
        *problem.twin, problem.rows, problem.pairs, problem.steps, maximum, 0.02, 0.05, max_norm, *rngs
    )
    assert result == pytest.approx(expected, rel=1e-3)
    agree(problem.embedding, problem.twin)


@pytest.mark.parametrize("maximum", [None, 2])
def test_adaptive_steps_agree_with_numpy(problem, agree, maximum):
    state, rngs = streams_and_twins(2, 2)
    biases, squares = np.linspace(0, 1, problem.n_labels), [*map(np.ones_like, problem.twin), np.ones(problem.n_labels)]
    ours = biases.astype(np.float32)
    our_squares = SquaredGradients(padded(squares[0]), padded(squares[1]), squares[2].astype(np.float32))
    result = warp_adaptive_epoch(
        problem.embedding, ours, our_squares, problem.pipeline, new_trials(problem.n_labels, maximum), problem.steps,
        Rates(0.02, 0.05), state,
    )  # fmt: skip
    maximum = maximum or problem.n_labels
    expected = reference.warp_adaptive(
        *problem.twin, biases, squares, problem.rows, problem.pairs, problem.steps, maximum, 0.02, 0.05, *rngs
    )
    assert result == pytest.approx(expected, rel=1e-3)
    agree(problem.embedding, problem.twin)
    agree(our_squares[:2], squares[:2])
    np.testing.assert_allclose(ours, biases, rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(our_squares.biases, squares[2], rtol=2e-3)


def test_an_epoch_draws_its_own_candidates():
    """Candidates left over from an earlier epoch are not used, so an epoch depends only on the state of the streams."""
    results = []
    for n_used in (3, 16):
        embedding, trials = embedding_of(np.ones((1, 2)), np.zeros((9, 2))), new_trials(9, None)
        trials.n_used[0] = n_used
        warp_epoch(embedding, pipeline_of([[0]]), trials, 40, Rates(0.1, 0.0), 0.0, streams(1))
        results.append(embedding.labels.tobytes())
    assert results[0] == results[1]


def test_rank_losses_are_harmonic_numbers():
    assert new_trials(3, None).rank_loss.tolist() == [0, 1, 1.5, 1.5 + 1 / 3]


def test_trials_are_geometric():
    """With v violators among n negatives there are k trials with probability (1 - v/n)^(k - 1) v/n, cut at the cap."""
    n_labels, violators, cap = 41, 5, 12
    labels = np.full((n_labels, 1), -5.0)
    labels[0] = 1.0
    labels[1 : 1 + violators] = 0.9
    embedding, pipeline, state = embedding_of(np.ones((1, 1)), labels), pipeline_of([[0]]), streams(12)
    trials = new_trials(n_labels, cap)
    counts = [warp_epoch(embedding, pipeline, trials, 1, Rates(1e-12, 0.0), 0.0, state)[1] for _ in range(5000)]
    p = violators / (n_labels - 1)
    probabilities = (1 - p) ** np.arange(cap) * p
    probabilities[-1] = (1 - p) ** (cap - 1)
    observed = np.bincount(np.array(counts, dtype=int), minlength=cap + 1)[1:]
    assert stats.chisquare(observed, probabilities * observed.sum()).pvalue > 1e-3
