import numpy as np
import pytest
from scipy import stats

from tests.reference import pairwise as reference
from tests.reference.randomness import SplitMix64
from vsebench.kernels import pairwise
from vsebench.kernels.random import new_state

N_LABELS = 12
STEPS = 300


@pytest.fixture
def problem():
    """Rows of labels (one image has none), the pairs, and embeddings in float32 and float64."""
    rng = np.random.default_rng(3)
    rows = [sorted(rng.choice(N_LABELS, size, replace=False).tolist()) for size in rng.integers(1, 5, 20)]
    rows[2] = []
    offsets = np.cumsum([0, *map(len, rows)])
    labels = np.array([label for row in rows for label in row], dtype=np.int32)
    images = np.repeat(np.arange(20, dtype=np.int32), np.diff(offsets))
    embeddings = rng.normal(0, 0.5, (20, 6)), rng.normal(0, 0.5, (N_LABELS, 6))
    return rows, offsets, images, labels, embeddings


def both(embeddings):
    return [e.astype(np.float32) for e in embeddings], [e.copy() for e in embeddings]


def assert_close(actual, expected):
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=2e-3, atol=2e-4)


def test_opt_auc_agrees_with_numpy(problem):
    rows, offsets, images, labels, embeddings = problem
    ours, theirs = both(embeddings)
    state = new_state(1)
    twin = SplitMix64(state[0])
    loss = pairwise.opt_auc_epoch(*ours, images, labels, offsets, labels, STEPS, 0.1, 0.05, state)
    pairs = list(zip(images.tolist(), labels.tolist(), strict=True))
    expected = reference.opt_auc(*theirs, pairs, rows, STEPS, 0.1, 0.05, twin)
    assert loss == pytest.approx(expected, rel=1e-3)
    assert_close(ours, theirs)
    assert int(state[0]) == twin.state


@pytest.mark.parametrize(("cap", "limit"), [(N_LABELS, 0.0), (2, 0.0), (N_LABELS, 0.9)])
def test_warp_agrees_with_numpy(problem, cap, limit):
    rows, offsets, images, labels, embeddings = problem
    ours, theirs = both(embeddings)
    state = new_state(2)
    twin = SplitMix64(state[0])
    harmonic = np.concatenate([[0], np.cumsum(1 / np.arange(1, N_LABELS + 1))])
    result = pairwise.warp_epoch(
        *ours, images, labels, offsets, labels, harmonic, STEPS, cap, 0.02, 0.05, limit, state
    )  # fmt: skip
    pairs = list(zip(images.tolist(), labels.tolist(), strict=True))
    expected = reference.warp(*theirs, pairs, rows, STEPS, cap, 0.02, 0.05, limit, twin)
    assert result == pytest.approx(expected, rel=1e-3)
    assert_close(ours, theirs)


def test_warp_published_agrees_with_numpy(problem):
    rows, offsets, _, labels, embeddings = problem
    ours, theirs = both(embeddings)
    state = new_state(3)
    twin = SplitMix64(state[0])
    result = pairwise.warp_published_epoch(*ours, offsets, labels, STEPS, 0.1, 0.05, state)
    expected = reference.warp_published(*theirs, rows, STEPS, 0.1, 0.05, twin)
    assert result == pytest.approx(expected, rel=1e-3)
    assert_close(ours, theirs)


def test_vse_ens_agrees_with_numpy(problem):
    rows, offsets, images, labels, embeddings = problem
    ours, theirs = both(embeddings)
    order = np.empty((6, N_LABELS), dtype=np.int32)
    deviations = np.empty(6, dtype=np.float32)
    pairwise.refresh_lists(ours[1], order, deviations)
    state = new_state(4)
    twin = SplitMix64(state[0])
    loss = pairwise.vse_ens_epoch(
        *ours, images, labels, offsets, labels, order, deviations, STEPS, 4.0, 0.05, 0.05, state
    )  # fmt: skip
    pairs = list(zip(images.tolist(), labels.tolist(), strict=True))
    expected = reference.vse_ens(*theirs, pairs, rows, order, deviations, STEPS, 4.0, 0.05, 0.05, twin)
    assert loss == pytest.approx(expected, rel=1e-3)
    assert_close(ours, theirs)


def numerical_gradient(loss, image, positive, negative):
    rows = np.concatenate([image, positive, negative]).astype(float)
    gradient = np.empty_like(rows)
    for index in range(len(rows)):
        steps = []
        for sign in (1, -1):
            moved = rows.copy()
            moved[index] += sign * 1e-5
            steps.append(loss(*np.split(moved, 3)))
        gradient[index] = (steps[0] - steps[1]) / 2e-5
    return np.split(gradient, 3)


@pytest.mark.parametrize("kind", ["logistic", "hinge"])
def test_one_step_follows_the_gradient_of_loss_and_penalty(kind):
    """Rate times the numerical gradient of loss + (regularisation / 2) * squared norms."""
    rng = np.random.default_rng(0)
    image, positive, negative = rng.normal(0, 0.3, (3, 4)).astype(np.float32)
    rate, penalty = 0.01, 0.5

    def loss(u, p, n):
        margin = u @ (p - n)
        fit = np.log1p(np.exp(-margin)) if kind == "logistic" else max(0, 1 - margin)
        return fit + penalty / 2 * (u @ u + p @ p + n @ n)

    images, labels = image[None].copy(), np.stack([positive, negative])
    start = images.copy(), labels.copy()
    offsets, zero = np.array([0, 1]), np.zeros(1, dtype=np.int32)
    if kind == "logistic":
        pairwise.opt_auc_epoch(images, labels, zero, zero, offsets, zero, 1, rate, penalty, new_state(1))
    else:
        harmonic = np.array([0.0, 1.0])
        pairwise.warp_epoch(images, labels, zero, zero, offsets, zero, harmonic, 1, 1, rate, penalty, 0.0, new_state(1))
    expected = numerical_gradient(loss, image, positive, negative)
    moves = [images[0] - start[0][0], labels[0] - start[1][0], labels[1] - start[1][1]]
    for move, gradient in zip(moves, expected, strict=True):
        np.testing.assert_allclose(move, -rate * gradient, atol=1e-5)


def test_logistic_of_large_margins_is_finite():
    assert pairwise.logistic(1000.0) == (0.0, 0.0)
    assert pairwise.logistic(-1000.0) == (1000.0, 1.0)


def test_divergence_stays_visible():
    images, labels = np.full((1, 4), 1e19, dtype=np.float32), np.full((2, 4), 1e19, dtype=np.float32)
    labels[1] *= -1
    zero = np.zeros(1, dtype=np.int32)
    for _ in range(3):
        pairwise.opt_auc_epoch(
            images, labels, zero, zero, np.array([0, 1]), zero, 5, 1e9, 1.0, new_state(1)
        )  # fmt: skip
    assert not (np.isfinite(images).all() and np.isfinite(labels).all())


@pytest.mark.parametrize("n_labels", [1, 2, 255, 3000])
def test_lists_are_sorted_by_factor(n_labels):
    labels = np.random.default_rng(n_labels).normal(0, 1, (n_labels, 5)).astype(np.float32)
    labels[: n_labels // 3, 0] = 0.5  # ties keep the order of ids
    labels[: n_labels // 3, 1] = -0.0
    order = np.empty((5, n_labels), dtype=np.int32)
    deviations = np.empty(5, dtype=np.float32)
    pairwise.refresh_lists(labels, order, deviations)
    for f in range(5):
        assert sorted(order[f]) == list(range(n_labels))
        assert (np.diff(labels[order[f], f]) <= 0).all()
    assert order[0].tolist() == np.argsort(-labels[:, 0], kind="stable").tolist()
    np.testing.assert_allclose(deviations, labels.std(axis=0), rtol=1e-5)


def chi_square_p(counts, probabilities):
    expected = probabilities * counts.sum()
    return stats.chisquare(counts, expected * (counts.sum() / expected.sum())).pvalue


@pytest.mark.parametrize("scale", [0.7, 5.0, 200.0])
def test_ranks_follow_the_truncated_exponential_law(scale):
    state = new_state(8)
    ranks = np.array([pairwise.draw_rank(scale, 20, state) for _ in range(20000)])
    expected = reference.rank_probabilities(scale, 20)
    counts = np.bincount(ranks, minlength=20)
    last = int(np.argmin(expected * 20000 > 5)) or 20  # from here on cells are too small for the test
    assert counts[last:].sum() <= 20000 * expected[last:].sum() + 10
    assert chi_square_p(counts[:last], expected[:last]) > 1e-3


def test_factors_follow_weight_times_deviation():
    image = np.array([0.5, -2.0, 0.0, 1.0], dtype=np.float32)
    deviations = np.array([1.0, 0.5, 3.0, 2.0], dtype=np.float32)
    state, room = new_state(9), np.empty(4, dtype=np.float32)
    factors = np.array([pairwise.draw_factor(image, deviations, room, state) for _ in range(20000)])
    weights = np.abs(image) * deviations
    kept = weights > 0
    assert (factors != 2).all()
    assert chi_square_p(np.bincount(factors, minlength=4)[kept], (weights / weights.sum())[kept]) > 1e-3


def test_uniform_negatives_avoid_positives_and_are_uniform():
    state, row = new_state(10), np.array([1, 4], dtype=np.int32)
    drawn = np.array([pairwise.draw_negative(row, 8, state) for _ in range(12000)])
    counts = np.bincount(drawn, minlength=8)
    assert counts[[1, 4]].sum() == 0
    assert chi_square_p(np.delete(counts, [1, 4]), np.full(6, 1 / 6)) > 1e-3


def test_adaptive_negatives_follow_the_mixture_of_lists():
    """p(a | i) = sum_f p(f | i) p(rank of a in list f), with the positives taken out."""
    rng = np.random.default_rng(1)
    labels = rng.normal(0, 1, (8, 3)).astype(np.float32)
    image = np.array([0.3, -1.0, 0.7], dtype=np.float32)
    row = np.array([2, 5], dtype=np.int32)
    order, deviations = np.empty((3, 8), dtype=np.int32), np.empty(3, dtype=np.float32)
    pairwise.refresh_lists(labels, order, deviations)
    by_rank = reference.rank_probabilities(2.0, 8)
    weights = np.abs(image) * deviations
    expected = np.zeros(8)
    for f in range(3):
        ranked = order[f] if image[f] > 0 else order[f][::-1]
        expected[ranked] += weights[f] / weights.sum() * by_rank
    expected[row] = 0
    state, room = new_state(11), np.empty(3, dtype=np.float32)
    drawn = [
        pairwise.draw_adaptive_negative(image, row, order, deviations, 2.0, room, state) for _ in range(20000)
    ]  # fmt: skip
    counts = np.bincount(drawn, minlength=8)
    kept = expected > 0
    assert counts[~kept].sum() == 0
    assert chi_square_p(counts[kept], expected[kept] / expected.sum()) > 1e-3


def test_warp_trials_are_geometric():
    """With v violators among n negatives and no cap, the trials have the mean n / v where there is one."""
    n_labels, violators = 41, 5
    images = np.ones((1, 1), dtype=np.float32)
    labels = np.full((n_labels, 1), -5.0, dtype=np.float32)
    labels[0] = 1.0
    labels[1 : 1 + violators] = 0.9
    zero, steps = np.zeros(1, dtype=np.int32), 20000
    harmonic = np.concatenate([[0], np.cumsum(1 / np.arange(1, n_labels + 1))])
    _, trials = pairwise.warp_epoch(
        images, labels, zero, zero, np.array([0, 1]), zero, harmonic, steps, 10**6, 1e-12, 0.0, 0.0, new_state(12)
    )
    p = violators / (n_labels - 1)
    # The cap at the number of negatives cuts 0.5 % of the tail off.
    cap = n_labels - 1
    expected = (1 - (1 - p) ** cap) / p
    assert trials == pytest.approx(expected, abs=5 * np.sqrt((1 - p) / p**2 / steps))
