import numpy as np
import pytest
from scipy import stats

from tests.reference import pairwise as reference
from tests.reference.randomness import SplitMix64
from vsebench.kernels import pairwise
from vsebench.kernels.lanes import LANES, aligned
from vsebench.kernels.random import new_state, uniform
from vsebench.kernels.rounding import NOT_ROUNDED, round_labels

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


def padded(matrix):
    """Fill up the factors to whole lanes, as the kernels want them."""
    out = aligned(len(matrix), -(-matrix.shape[1] // LANES) * LANES)
    out[:, : matrix.shape[1]] = matrix
    return out


def both(embeddings):
    return [padded(e) for e in embeddings], [e.copy() for e in embeddings]


def as_kernels_read(offsets, images, labels):
    """Return `pairs` and `row_labels`."""
    images = np.asarray(images)
    pairs = np.stack([images, labels, offsets[images], offsets[images + 1]], axis=1).astype(np.int32)
    return pairs, with_room(labels)


def with_room(row_labels):
    return np.concatenate([row_labels, np.zeros(LANES, dtype=np.int32)])


def streams(seed):
    """Return the state of three streams of random numbers, and their twins."""
    state = np.concatenate([new_state(seed, stream) for stream in range(3)])
    return state, [SplitMix64(word) for word in state]


NO_SQUARES = aligned(0, LANES), aligned(0, LANES), aligned(0)
ONE_PAIR = as_kernels_read(np.array([0, 1]), [0], np.zeros(1, dtype=np.int32))


def assert_close(actual, expected):
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a[:, : e.shape[1]], e, rtol=2e-3, atol=2e-4)
        assert not a[:, e.shape[1] :].any()


@pytest.mark.parametrize("bias_rate", [0.0, 0.1])
def test_opt_auc_agrees_with_numpy(problem, bias_rate):
    rows, offsets, images, labels, embeddings = problem
    ours, theirs = both(embeddings)
    biases = np.linspace(0, 1, N_LABELS)
    our_biases = biases.astype(np.float32)
    state, twins = streams(1)
    common = STEPS, 0.1, bias_rate, 0.05
    loss = pairwise.opt_auc_epoch(*ours, our_biases, *as_kernels_read(offsets, images, labels), *common, state)
    pairs = list(zip(images.tolist(), labels.tolist(), strict=True))
    expected = reference.opt_auc(*theirs, biases, pairs, rows, *common, *twins[:2])
    np.testing.assert_allclose(our_biases, biases, rtol=2e-3, atol=2e-4)
    assert loss == pytest.approx(expected, rel=1e-3)
    assert_close(ours, theirs)
    assert state.tolist() == [twin.state for twin in twins]


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize(("cap", "limit"), [(N_LABELS, 0.0), (2, 0.0), (N_LABELS, 0.9)])
def test_warp_agrees_with_numpy(problem, cap, limit, adaptive):
    rows, offsets, images, labels, embeddings = problem
    ours, theirs = both(embeddings)
    squares, their_squares = both([np.ones_like(e) for e in embeddings])
    biases, bias_squares = (np.linspace(0, 1, N_LABELS) if adaptive else np.zeros(N_LABELS)), np.ones(N_LABELS)
    our_biases, our_bias_squares = biases.astype(np.float32), bias_squares.astype(np.float32)
    state, twins = streams(2)
    harmonic = np.concatenate([[0], np.cumsum(1 / np.arange(1, N_LABELS + 1))])
    positives = as_kernels_read(offsets, images, labels)
    common = STEPS, cap, 0.02, 0.05, limit
    our_squares = (*squares, our_bias_squares) if adaptive else NO_SQUARES
    result = pairwise.warp_epoch(*ours, our_biases, *our_squares, *positives, harmonic, *common, state)
    pairs = list(zip(images.tolist(), labels.tolist(), strict=True))
    their_squares = (*their_squares, bias_squares) if adaptive else None
    expected = reference.warp(*theirs, biases, their_squares, pairs, rows, *common, *twins[:2])
    np.testing.assert_allclose(our_biases, biases, rtol=2e-3, atol=2e-4)
    assert result == pytest.approx(expected, rel=1e-3)
    assert_close(ours, theirs)


@pytest.mark.parametrize("rounding", [True, False])
def test_warp_published_agrees_with_numpy(problem, rounding):
    rows, offsets, _, labels, embeddings = problem
    ours, theirs = both(embeddings)
    state, twins = streams(3)
    row_labels = with_room(labels)
    rounded = round_labels(ours[1]) if rounding else NOT_ROUNDED
    result = pairwise.warp_published_epoch(*ours, rounded, offsets, row_labels, STEPS, 0.1, 0.05, state)
    expected = reference.warp_published(*theirs, rows, STEPS, 0.1, 0.05, twins[0])
    assert result == pytest.approx(expected, rel=1e-3)
    assert_close(ours, theirs)


@pytest.mark.parametrize("n_labels", [15, 16, 70, 200])
@pytest.mark.parametrize("size", [1e-3, 0.3, 2.0])
def test_warp_published_is_the_same_with_and_without_rounding(n_labels, size):
    """Many labels, few violators, scores far from 1 and close to it."""
    results = []
    for rounding in (True, False):
        rng = np.random.default_rng(n_labels)
        images, labels = padded(rng.normal(0, size, (30, 40))), padded(rng.normal(0, size, (n_labels, 40)))
        images[5], labels[7] = 0, labels[6]
        row_labels = with_room(rng.integers(0, n_labels, 60, dtype=np.int32))
        rounded = round_labels(labels) if rounding else NOT_ROUNDED
        state, _ = streams(5)
        told = pairwise.warp_published_epoch(
            images, labels, rounded, np.arange(0, 61, 2), row_labels, 3000, 0.1, 0.01, state
        )
        results.append((told, images.tobytes(), labels.tobytes(), state.tobytes()))
    assert results[0] == results[1]


def test_vse_ens_agrees_with_numpy(problem):
    rows, offsets, images, labels, embeddings = problem
    ours, theirs = both(embeddings)
    order = np.empty((6, N_LABELS), dtype=np.int32)
    deviations = aligned(LANES)
    pairwise.refresh_lists(0, LANES, ours[1], order, deviations)
    state, twins = streams(4)
    loss = pairwise.vse_ens_epoch(
        *ours, *as_kernels_read(offsets, images, labels), order, deviations, STEPS, 4.0, 0.05, 0.05, state
    )  # fmt: skip
    pairs = list(zip(images.tolist(), labels.tolist(), strict=True))
    expected = reference.vse_ens(*theirs, pairs, rows, order, deviations[:6], STEPS, 4.0, 0.05, 0.05, *twins)
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

    images, labels = padded(image[None]), padded(np.stack([positive, negative]))
    start = images.copy(), labels.copy()
    state, _ = streams(1)
    if kind == "logistic":
        pairwise.opt_auc_epoch(images, labels, aligned(len(labels)), *ONE_PAIR, 1, rate, 0.0, penalty, state)
    else:
        harmonic = np.array([0.0, 1.0])
        pairwise.warp_epoch(
            images, labels, aligned(len(labels)), *NO_SQUARES, *ONE_PAIR, harmonic, 1, 1, rate, penalty, 0.0, state
        )
    expected = numerical_gradient(loss, image, positive, negative)
    moves = [images[0] - start[0][0], labels[0] - start[1][0], labels[1] - start[1][1]]
    for move, gradient in zip(moves, expected, strict=True):
        np.testing.assert_allclose(move[:4], -rate * gradient, atol=1e-5)


def test_logistic_of_large_margins_is_finite():
    assert pairwise.logistic(np.float32(1000)) == (0, 0)
    assert pairwise.logistic(np.float32(-1000)) == (0, 1)
    decay, slope = pairwise.logistic(np.float32(0.5))
    assert decay == pytest.approx(np.exp(-0.5), rel=1e-6)
    assert slope == pytest.approx(1 / (1 + np.exp(0.5)), rel=1e-6)


def test_divergence_stays_visible():
    images, labels = padded(np.full((1, 4), 1e19)), padded(np.full((2, 4), 1e19))
    labels[1] *= -1
    for seed in range(3):
        pairwise.opt_auc_epoch(images, labels, aligned(2), *ONE_PAIR, 5, 1e9, 0.0, 1.0, streams(seed)[0])
    assert not (np.isfinite(images).all() and np.isfinite(labels).all())


@pytest.mark.parametrize("n_labels", [1, 2, 255, 3000])
def test_lists_are_sorted_by_factor(n_labels):
    rng = np.random.default_rng(n_labels)
    labels = rng.normal(0, 1, (n_labels, 5)).astype(np.float32)
    labels[:, 2] = 1 + rng.normal(0, 1e-5, n_labels)  # alike in all but the last bits
    labels[: n_labels // 3, 0] = 0.5  # ties keep the order of ids
    labels[: n_labels // 3, 1] = -0.0
    order = np.empty((5, n_labels), dtype=np.int32)
    deviations = aligned(LANES)
    pairwise.refresh_lists(0, LANES, padded(labels), order, deviations)
    for f in range(5):
        assert sorted(order[f]) == list(range(n_labels))
        assert (np.diff(labels[order[f], f]) <= 0).all()
    assert order[0].tolist() == np.argsort(-labels[:, 0], kind="stable").tolist()
    np.testing.assert_allclose(deviations[:5], labels.std(axis=0, dtype=float), rtol=1e-3, atol=1e-7)


def chi_square_p(counts, probabilities):
    expected = probabilities * counts.sum()
    return stats.chisquare(counts, expected * (counts.sum() / expected.sum())).pvalue


@pytest.mark.parametrize("scale", [0.7, 5.0, 200.0])
def test_ranks_follow_the_truncated_exponential_law(scale):
    state = new_state(8)
    span = np.expm1(-20 / scale)
    ranks = np.array([pairwise.draw_rank(scale, span, 20, state) for _ in range(20000)])
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
    pairwise.weigh_factors(images, 0, deviations, sums)
    factors = np.array([pairwise.find_factor(sums, uniform(state)) for _ in range(40000)])
    weights = (np.abs(images[0]) * deviations)[:n_factors]
    counts = np.bincount(factors, minlength=n_factors)
    assert len(counts) == n_factors
    kept = weights > 1e-3 * weights.sum()  # others are too seldom for the test
    assert counts[2] == 0
    assert chi_square_p(counts[kept], (weights / weights.sum())[kept]) > 1e-3


def test_uniform_negatives_avoid_positives_and_are_uniform():
    state, row_labels = new_state(10), with_room(np.array([1, 4], dtype=np.int32))
    drawn = np.array([pairwise.draw_negative(row_labels, 0, 2, 8, state) for _ in range(12000)])
    counts = np.bincount(drawn, minlength=8)
    assert counts[[1, 4]].sum() == 0
    assert chi_square_p(np.delete(counts, [1, 4]), np.full(6, 1 / 6)) > 1e-3


def test_adaptive_negatives_follow_the_mixture_of_lists():
    """p(a | i) = sum_f p(f | i) p(rank of a in list f), with the positives taken out."""
    rng = np.random.default_rng(1)
    labels = padded(rng.normal(0, 1, (8, 3)))
    images = padded(np.array([[0.3, -1.0, 0.7]]))
    row_labels = with_room(np.array([2, 5], dtype=np.int32))
    order, deviations = np.empty((3, 8), dtype=np.int32), aligned(LANES)
    pairwise.refresh_lists(0, LANES, labels, order, deviations)
    by_rank = reference.rank_probabilities(2.0, 8)
    weights = np.abs(images[0]) * deviations
    expected = np.zeros(8)
    for f in range(3):
        ranked = order[f] if images[0, f] > 0 else order[f][::-1]
        expected[ranked] += weights[f] / weights.sum() * by_rank
    expected[[2, 5]] = 0
    state, sums = new_state(11), aligned(3 * LANES)
    pairwise.weigh_factors(images, 0, deviations, sums)
    span = np.expm1(-8 / 2.0)
    drawn = [
        pairwise.draw_adaptive_again(images, 0, row_labels, 0, 2, order, sums, 2.0, span, state) for _ in range(20000)
    ]
    counts = np.bincount(drawn, minlength=8)
    kept = expected > 0
    assert counts[~kept].sum() == 0
    assert chi_square_p(counts[kept], expected[kept] / expected.sum()) > 1e-3


def test_warp_trials_are_geometric():
    """With v violators among n negatives there are k trials with probability (1 - v/n)^(k - 1) v/n, cut at the cap."""
    n_labels, violators, cap = 41, 5, 12
    images, labels = padded(np.ones((1, 1))), padded(np.full((n_labels, 1), -5.0))
    labels[0, 0] = 1.0
    labels[1 : 1 + violators, 0] = 0.9
    harmonic = np.concatenate([[0], np.cumsum(1 / np.arange(1, n_labels + 1))])
    state, _ = streams(12)
    setting = 1, cap, 1e-12, 0.0, 0.0, state
    trials = [
        pairwise.warp_epoch(images, labels, aligned(len(labels)), *NO_SQUARES, *ONE_PAIR, harmonic, *setting)[1]
        for _ in range(5000)
    ]
    p = violators / (n_labels - 1)
    probabilities = (1 - p) ** np.arange(cap) * p
    probabilities[-1] = (1 - p) ** (cap - 1)
    assert chi_square_p(np.bincount(np.array(trials, dtype=int), minlength=cap + 1)[1:], probabilities) > 1e-3
