import numpy as np
import pytest

from benchmarks.biases.adagrad import SquaredGradients
from benchmarks.biases.warp import warp_adaptive_epoch
from tests.reference import warp as reference
from tests.reference.arrays import padded, streams
from tests.reference.random_numbers import SplitMix64
from vsebench.kernels.sgd.steps import Rates
from vsebench.kernels.sgd.warp import new_trials


@pytest.mark.parametrize("maximum", [None, 2])
def test_agrees_with_numpy(problem, agree, maximum):
    state = streams(2)
    rngs = [SplitMix64(stream[0]) for stream in state[:2]]
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
