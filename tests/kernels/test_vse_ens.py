import numpy as np
import pytest
from scipy import stats

from tests.reference import vse_ens as reference
from tests.reference.arrays import embedding_of, padded, streams_and_twins, with_unused
from vsebench.kernels.random_numbers import new_state, uniform
from vsebench.kernels.sgd.sorted_lists import SortedLists, refresh_lists
from vsebench.kernels.sgd.steps import Rates
from vsebench.kernels.sgd.vse_ens import (
    draw_rank,
    find_factor,
    new_draws,
    redraw_negative,
    vse_ens_epoch,
    weigh_factors,
)
from vsebench.kernels.vectors import LANES, aligned


def sorted_lists(labels, n_factors):
    lists = SortedLists(np.empty((n_factors, len(labels)), dtype=np.uint16), aligned(LANES))
    refresh_lists(0, LANES, labels, lists)
    return lists


def chi_square_p(counts, probabilities):
    expected = probabilities * counts.sum()
    return stats.chisquare(counts, expected * (counts.sum() / expected.sum())).pvalue


def test_agrees_with_numpy(problem, agree):
    state, rngs = streams_and_twins(4)
    lists = sorted_lists(problem.embedding.labels, 6)
    loss = vse_ens_epoch(
        problem.embedding, problem.pipeline, lists, new_draws(LANES), problem.steps, 4.0, Rates(0.05, 0.05), state
    )  # fmt: skip
    theirs = lists.order, lists.deviations[:6]
    expected = reference.vse_ens(
        *problem.twin, problem.rows, problem.pairs, theirs, problem.steps, 4.0, 0.05, 0.05, *rngs
    )
    assert loss == pytest.approx(expected, rel=1e-3)
    agree(problem.embedding, problem.twin)


@pytest.mark.parametrize("scale", [0.7, 5.0, 200.0])
def test_ranks_follow_the_truncated_exponential_distribution(scale):
    state = new_state(8)
    span = np.expm1(-20 / scale)
    ranks = np.array([draw_rank(scale, span, 20, state) for _ in range(20000)])
    expected = reference.rank_probabilities(scale, 20)
    counts = np.bincount(ranks, minlength=20)
    last = int(np.argmin(expected * 20000 > 5)) or 20  # from here on cells are too small for the test
    assert counts[last:].sum() <= 20000 * expected[last:].sum() + 10
    assert chi_square_p(counts[:last], expected[:last]) > 1e-3


@pytest.mark.parametrize("n_factors", [4, 40])
def test_factors_follow_weight_times_deviation(n_factors):
    rng = np.random.default_rng(n_factors)
    images, deviations = padded(rng.normal(size=(1, n_factors))), padded(rng.random((1, n_factors)) + 0.1)[0]
    images[0, 2] = 0
    state, sums = new_state(9), aligned(images.shape[1] + 2 * LANES)
    weigh_factors(images, 0, deviations, sums)
    factors = np.array([find_factor(sums, uniform(state)) for _ in range(40000)])
    weights = (np.abs(images[0]) * deviations)[:n_factors]
    counts = np.bincount(factors, minlength=n_factors)
    assert len(counts) == n_factors
    kept = weights > 1e-3 * weights.sum()  # others are too rare for the test
    assert counts[2] == 0
    assert chi_square_p(counts[kept], (weights / weights.sum())[kept]) > 1e-3


def test_negatives_follow_the_mixture_of_lists():
    """p(a | i) = sum_f p(f | i) p(rank of a in list f), with the positives taken out."""
    rng = np.random.default_rng(1)
    images, labels = embedding_of(np.array([[0.3, -1.0, 0.7]]), rng.normal(0, 1, (8, 3)))
    row_labels = with_unused([2, 5])
    order, deviations = sorted_lists(labels, 3)
    by_rank = reference.rank_probabilities(2.0, 8)
    weights = np.abs(images[0]) * deviations
    expected = np.zeros(8)
    for f in range(3):
        ranked = order[f] if images[0, f] > 0 else order[f][::-1]
        expected[ranked] += weights[f] / weights.sum() * by_rank
    expected[[2, 5]] = 0
    state, sums = new_state(11), aligned(3 * LANES)
    weigh_factors(images, 0, deviations, sums)
    drawn = [redraw_negative(images, 0, row_labels, 0, 2, order, sums, 2.0, state) for _ in range(20000)]
    counts = np.bincount(drawn, minlength=8)
    kept = expected > 0
    assert counts[~kept].sum() == 0
    assert chi_square_p(counts[kept], expected[kept] / expected.sum()) > 1e-3


@pytest.mark.parametrize("number", [np.uint16, np.int32])
@pytest.mark.parametrize("n_labels", [1, 2, 255, 3000])
def test_labels_are_sorted_by_each_factor(n_labels, number):
    rng = np.random.default_rng(n_labels)
    labels = rng.normal(0, 1, (n_labels, 5)).astype(np.float32)
    labels[:, 2] = 1 + rng.normal(0, 1e-5, n_labels)  # alike in all but the last bits
    labels[: n_labels // 3, 0] = 0.5  # ties keep the order of ids
    labels[: n_labels // 3, 1] = -0.0
    lists = SortedLists(np.empty((5, n_labels), dtype=number), aligned(LANES))
    refresh_lists(0, LANES, padded(labels), lists)
    for f in range(5):
        assert sorted(lists.order[f]) == list(range(n_labels))
        assert (np.diff(labels[lists.order[f], f]) <= 0).all()
    assert lists.order[0].tolist() == np.argsort(-labels[:, 0], kind="stable").tolist()
    np.testing.assert_allclose(lists.deviations[:5], labels.std(axis=0, dtype=float), rtol=1e-3, atol=1e-7)
