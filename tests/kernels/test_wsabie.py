"""WSABIE, linear ranking, one-vs-rest and OWPC-SGD: against NumPy, a step by hand, gradients, and limits on norms."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from tests.builders import matrix_of
from tests.reference import wsabie as reference
from tests.reference.arrays import padded, pairs_of, streams, streams_and_twins
from tests.reference.warp import rank_loss
from vsebench.kernels.sgd.image_rows import by_label, new_image_rows, new_weights
from vsebench.kernels.sgd.linear_models import linear_epoch, one_vs_rest_epoch, passive_aggressive_epoch
from vsebench.kernels.sgd.warp import new_trials, one_trial
from vsebench.kernels.sgd.wsabie import new_maps, owpc_epoch, wsabie_epoch, wsabie_step
from vsebench.kernels.vectors import padded_size
from vsebench.methods.by_labels.sgd import positives_of

N_IMAGES, N_LABELS, D, K = 20, 12, 37, 6
STEPS = 300
WARP, AUC = (new_trials(N_LABELS, None), N_LABELS, rank_loss), (one_trial(N_LABELS), 1, lambda negatives, trials: 1)
KINDS = pytest.mark.parametrize("kind", ["dense", "sparse"])


@pytest.fixture
def problem():
    """Images with sparse features; image 2 has no label, image 3 no feature, image 4 every label."""
    rng = np.random.default_rng(3)
    x = (rng.normal(0, 1, (N_IMAGES, D)) * (rng.random((N_IMAGES, D)) < 0.3)).astype(np.float32)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
    x[3] = 0
    labels_of = [sorted(rng.choice(N_LABELS, size, replace=False).tolist()) for size in rng.integers(1, 5, N_IMAGES)]
    labels_of[2], labels_of[4] = [], list(range(N_LABELS))
    return SimpleNamespace(
        x=x,
        labels_of=labels_of,
        pairs=pairs_of(labels_of),
        matrix=matrix_of(labels_of, N_LABELS),
        positives=positives_of(matrix_of(labels_of, N_LABELS)),
        features=rng.normal(0, 0.4, (D, K)),
        labels=rng.normal(0, 0.4, (N_LABELS, K)),
    )


def rows_of_kind(x, kind, **changes):
    return new_image_rows(sparse.csr_array(x) if kind == "sparse" else x, **changes)


def maps_of(features, labels):
    """Return `Maps` of V (d, K) and W (n_labels, K), both padded."""
    v = padded(np.zeros((padded_size(len(features)), features.shape[1])))
    v[: len(features), : features.shape[1]] = features
    return new_maps(v, padded(labels))


def weights_for(rows, vectors):
    """Return the weights for rows in the order of their format, from one vector per label, (n_labels, d)."""
    weights = new_weights(rows, vectors.shape[1], len(vectors))
    by_label(rows, weights, vectors.shape[1], len(vectors))[:] = vectors
    return weights


def in_order_of(rows, vectors):
    """Return vectors, (n_labels, d), in the order of the weights for these rows."""
    return vectors if len(rows.columns) == 0 else vectors.T


def agree(ours, theirs):
    """Check that a padded matrix agrees with the twin's, and that the padding is still 0."""
    np.testing.assert_allclose(ours[: len(theirs), : theirs.shape[1]], theirs, rtol=2e-3, atol=2e-4)
    assert not ours[len(theirs) :].any()
    assert not ours[:, theirs.shape[1] :].any()


@KINDS
@pytest.mark.parametrize("max_norm", [0.0, 0.9])
@pytest.mark.parametrize(("trials", "maximum", "weigh"), [WARP, AUC], ids=["warp", "auc"])
def test_wsabie_agrees_with_numpy(problem, kind, max_norm, trials, maximum, weigh):
    state, rngs = streams_and_twins(2, 2)
    maps = maps_of(problem.features, problem.labels)
    rows = rows_of_kind(problem.x, kind)
    actual = wsabie_epoch(maps, rows, problem.positives, trials, STEPS, 0.02, max_norm, state)
    twin = problem.features, problem.labels
    expected = reference.wsabie(
        *twin, problem.x, problem.labels_of, problem.pairs, STEPS, maximum, weigh, 0.02, max_norm, *rngs
    )
    assert actual == pytest.approx(expected, rel=1e-3)
    agree(maps.features, twin[0])
    agree(maps.labels, twin[1])


@KINDS
@pytest.mark.parametrize(("trials", "maximum", "weigh"), [WARP, AUC], ids=["warp", "auc"])
def test_linear_agrees_with_numpy(problem, kind, trials, maximum, weigh):
    state, rngs = streams_and_twins(2, 2)
    rows, twin = rows_of_kind(problem.x, kind), np.zeros((N_LABELS, D))
    weights, scores = new_weights(rows, D, N_LABELS), padded(np.zeros((1, N_LABELS)))
    actual = linear_epoch(weights, rows, problem.positives, N_LABELS, trials, STEPS, 0.1, state, scores)
    expected = reference.linear(twin, problem.x, problem.labels_of, problem.pairs, STEPS, maximum, weigh, 0.1, *rngs)
    assert actual == pytest.approx(expected, rel=1e-3)
    agree(weights, in_order_of(rows, twin))


@KINDS
def test_linear_agrees_with_numpy_if_most_steps_need_many_trials(kind):
    """With 200 labels and sparse rows, all scores are computed together after three trials."""
    rng, n_labels = np.random.default_rng(5), 200
    x = (rng.normal(0, 1, (N_IMAGES, D)) * (rng.random((N_IMAGES, D)) < 0.4)).astype(np.float32)
    labels_of = [sorted(rng.choice(n_labels, 2, replace=False).tolist()) for _ in range(N_IMAGES)]
    twin = rng.normal(0, 0.1, (n_labels, D))
    for i, labels in enumerate(labels_of):
        twin[labels] += x[i] / (x[i] @ x[i])
    rows, trials = rows_of_kind(x, kind), new_trials(n_labels)
    weights, scores = weights_for(rows, twin), padded(np.zeros((1, n_labels)))
    state, rngs = streams_and_twins(2, 2)
    positives = positives_of(matrix_of(labels_of, n_labels))
    actual = linear_epoch(weights, rows, positives, n_labels, trials, STEPS, 0.01, state, scores)
    expected = reference.linear(twin, x, labels_of, pairs_of(labels_of), STEPS, n_labels, rank_loss, 0.01, *rngs)
    assert 10 < expected[1] < 190
    assert actual == pytest.approx(expected, rel=1e-3)
    agree(weights, in_order_of(rows, twin))


@KINDS
@pytest.mark.parametrize("aggressiveness", [0.02, 10.0])
def test_passive_aggressive_agrees_with_numpy(problem, kind, aggressiveness):
    """The twin would never find a negative for an image with every label, so this image is changed here."""
    problem.labels_of[4] = [1]
    positives, pairs = positives_of(matrix_of(problem.labels_of, N_LABELS)), pairs_of(problem.labels_of)
    state, rngs = streams_and_twins(2, 2)
    rows, twin = rows_of_kind(problem.x, kind), np.zeros((N_LABELS, D))
    weights = new_weights(rows, D, N_LABELS)
    loss, trials = passive_aggressive_epoch(weights, rows, positives, N_LABELS, STEPS, aggressiveness, state)
    expected = reference.passive_aggressive(twin, problem.x, problem.labels_of, pairs, STEPS, aggressiveness, *rngs)
    assert loss == pytest.approx(expected, rel=1e-3)
    assert trials == 1
    agree(weights, in_order_of(rows, twin))


@KINDS
@pytest.mark.parametrize("aggressiveness", [0.02, 10.0])
def test_one_vs_rest_agrees_with_numpy(problem, kind, aggressiveness):
    weights = padded(np.zeros((padded_size(D + 1), N_LABELS)))
    twin = np.zeros((N_LABELS, D + 1))
    with_constant = np.hstack([problem.x, np.ones((N_IMAGES, 1))])
    rng = np.random.default_rng(1)
    for _ in range(3):
        order = rng.permutation(N_IMAGES)
        loss = one_vs_rest_epoch(
            weights, rows_of_kind(problem.x, kind, constant=True), N_LABELS, problem.matrix.offsets,
            problem.matrix.label_of_pair, order, aggressiveness, padded(np.zeros((1, N_LABELS))),
        )  # fmt: skip
        expected = reference.one_vs_rest(twin, with_constant, problem.labels_of, order, aggressiveness)
        assert loss == pytest.approx(expected, rel=1e-4)
    agree(weights, twin.T)


@KINDS
@pytest.mark.parametrize("max_norm", [0.0, 0.9])
def test_owpc_agrees_with_numpy(problem, kind, max_norm):
    state, rngs = streams_and_twins(2, 2)
    maps = maps_of(problem.features, problem.labels)
    loss, scored = owpc_epoch(
        maps, rows_of_kind(problem.x, kind), problem.positives, WARP[0].rank_loss, np.zeros(N_LABELS, dtype=np.int32),
        STEPS, 0.02, max_norm, state,
    )  # fmt: skip
    twin = problem.features, problem.labels
    expected = reference.owpc(*twin, problem.x, problem.labels_of, problem.pairs, STEPS, 0.02, max_norm, rngs[0])
    assert loss == pytest.approx(expected, rel=1e-3)
    assert scored == N_LABELS
    agree(maps.features, twin[0])
    agree(maps.labels, twin[1])


@njit
def take_step(maps, rows, p, n, size, max_norm):
    wsabie_step(maps, rows, 0, p, n, size, max_norm, 0)


@KINDS
def test_a_step_by_hand(kind):
    """x = (1, 0, 2), V' x = (0.5, 0.5), both scores 0.5, weight L(2) = 1.5, so the step is 0.15; C is 1."""
    x = np.array([[1, 0, 2]], dtype=np.float32)
    maps = maps_of(np.array([[0.5, 0], [1, 1], [0, 0.25]]), np.array([[1, 0], [0, 1], [0.5, 0.5]]))
    maps.image[0, :2] = 0.5
    take_step(maps, rows_of_kind(x, kind), 0, 1, np.float32(0.1 * new_trials(3, None).rank_loss[2]), np.float32(1))
    assert maps.labels[:, :2] == pytest.approx(np.array([[0.99758, 0.06960], [-0.075, 0.925], [0.5, 0.5]]), abs=1e-5)
    expected = np.array([[0.65, -0.15], [1, 1], [0.3, -0.05]])  # the second row is longer than C, but not touched
    assert maps.features[:3, :2] == pytest.approx(expected, abs=1e-6)
    assert maps.image[0, :2] == pytest.approx(x[0] @ expected, abs=1e-6)  # the same image follows


def test_a_step_follows_the_gradient_of_the_weighted_hinge():
    """A step is minus the rate times the numerical gradient for a fixed weight, for both labels and all features."""
    rng = np.random.default_rng(0)
    x, features, labels = rng.normal(0, 0.5, 5), rng.normal(0, 0.3, (5, 4)), rng.normal(0, 0.3, (2, 4))
    rate, weight = 0.01, 1.5

    def loss(parameters):
        v, w = parameters[:20].reshape(5, 4), parameters[20:].reshape(2, 4)
        return weight * max(0, 1 - (w[0] - w[1]) @ (v.T @ x))

    start = np.concatenate([features.ravel(), labels.ravel()])
    steps = 1e-5 * np.eye(len(start))
    gradient = np.array([(loss(start + step) - loss(start - step)) / 2e-5 for step in steps])
    maps = maps_of(features, labels)
    maps.image[0, :4] = features.T @ x
    take_step(maps, new_image_rows(x[None].astype(np.float32)), 0, 1, np.float32(rate * weight), np.float32(0))
    moved = np.concatenate([maps.features[:5, :4].ravel(), maps.labels[:, :4].ravel()]) - start
    np.testing.assert_allclose(moved, -rate * gradient, atol=1e-6)


@KINDS
def test_an_unclipped_passive_aggressive_step_ends_at_a_margin_of_one(kind):
    rng = np.random.default_rng(7)
    x = rng.normal(0, 2, (1, D)).astype(np.float32)
    rows = rows_of_kind(x, kind)
    weights = weights_for(rows, rng.normal(0, 0.1, (2, D)))
    passive_aggressive_epoch(weights, rows, positives_of(matrix_of([[1]], 2)), 2, 1, 1e6, streams(1))
    vectors = by_label(rows, weights, D, 2)
    assert (vectors[1] - vectors[0]) @ x[0] == pytest.approx(1, abs=1e-5)


def test_a_clipped_passive_aggressive_step_goes_as_far_as_allowed():
    x = np.array([[3, 4]], dtype=np.float32)
    weights = padded(np.zeros((2, 2)))
    passive_aggressive_epoch(weights, new_image_rows(x), positives_of(matrix_of([[0]], 2)), 2, 1, 0.01, streams(1))
    assert weights[:, :2] == pytest.approx(np.array([[0.03, 0.04], [-0.03, -0.04]]))


def test_weights_that_meet_the_margin_stay():
    x = np.array([[1, 0]], dtype=np.float32)
    weights = padded(np.array([[2.0, 0], [0.5, 0]]))
    before, scores = weights.copy(), padded(np.zeros((1, 2)))
    for trials in (WARP[0], AUC[0]):
        positives = positives_of(matrix_of([[0]], 2))
        assert linear_epoch(weights, new_image_rows(x), positives, 2, trials, 10, 0.1, streams(1), scores) == (0, 1)
        assert np.array_equal(weights, before)
