"""The distance of VSE-ens' draws from draws by rank."""

import numpy as np
import pytest

from tests.reference import vse_ens as reference
from tests.reference.arrays import embedding_of, with_unused
from vsebench.evaluation.analyses.sampler_distance import distances, sampling_probabilities
from vsebench.kernels.random_numbers import new_state
from vsebench.kernels.sgd.sorted_lists import SortedLists, refresh_lists
from vsebench.kernels.sgd.vse_ens import redraw_negative, weigh_factors
from vsebench.kernels.vectors import LANES, aligned


def test_with_one_factor_the_lists_are_the_ranks():
    labels = np.array([[0.3], [-1.0], [2.0], [0.1]], dtype=np.float32)
    images = np.array([[1.5], [-0.2]], dtype=np.float32)
    of_lists, of_uniform = distances(images, labels, 1.3)
    np.testing.assert_allclose(of_lists, 0, atol=1e-12)
    by_rank = reference.rank_probabilities(1.3, 4)
    np.testing.assert_allclose(of_uniform, np.abs(by_rank - 0.25).sum() / 2)


def test_with_two_factors_by_hand():
    """Factor 0 orders the labels 0, 1, 2 and factor 1 orders them 1, 2, 0, with equal deviations; scores 0 .. 2."""
    labels = np.array([[2.0, 0.0], [1.0, 2.0], [0.0, 1.0]], dtype=np.float32)
    images = np.array([[1.0, 1.0]], dtype=np.float32)  # the scores are 2, 3 and 1: the order is 1, 0, 2
    first, second, third = reference.rank_probabilities(1.0, 3)
    lists = np.array([first + third, second + first, third + second]) / 2
    np.testing.assert_allclose(sampling_probabilities(images, labels, np.array([first, second, third])), [lists])
    expected = np.abs(lists - [second, first, third]).sum() / 2
    np.testing.assert_allclose(distances(images, labels, 1.0)[0], [expected])


@pytest.mark.parametrize("image", [[0.4, -1.0, 0.2, 0.0, 0.7], [0.0, 0.0, 0.0, 0.0, 0.0]])
def test_the_kernel_draws_with_these_probabilities(image):
    rng = np.random.default_rng(3)
    images, labels = embedding_of(np.array([image]), rng.normal(size=(9, 5)))
    lists = SortedLists(np.empty((5, 9), dtype=np.uint16), aligned(LANES))
    refresh_lists(0, LANES, labels, lists)
    state, sums = new_state(5), aligned(3 * LANES)
    weigh_factors(images, 0, lists.deviations, sums)
    nothing = with_unused([])
    found = [redraw_negative(images, 0, nothing, 0, 0, lists.order, sums, 3.0, state) for _ in range(40000)]
    expected = sampling_probabilities(images[:, :5], labels[:, :5], reference.rank_probabilities(3.0, 9))[0]
    assert np.bincount(found, minlength=9) / 40000 == pytest.approx(expected, abs=0.01)
