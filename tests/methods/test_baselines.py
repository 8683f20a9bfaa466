"""The baselines in closed form: weights between labels, and projections of an image's labels."""

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet
from sklearn.metrics.pairwise import cosine_similarity

from tests.builders import dense, matrix_of
from tests.methods.problems import fit_to, problem_from, settings_of
from vsebench.core.workers import workers
from vsebench.kernels.cooccurrence import count_together, weigh_together
from vsebench.methods.by_labels import label_weights, slim


def weights_of(name, matrix, **changes):
    return fit_to(name, matrix, **changes)[0].weight


def test_labels_on_the_same_images_are_counted(small):
    rows = dense(small).astype(float)
    assert np.array_equal(count_together(small.offsets, small.label_of_pair, small.n_labels), rows.T @ rows)
    weights = np.linspace(0.5, 2, len(rows))
    weighed = weigh_together(small.offsets, small.label_of_pair, weights, small.n_labels)
    assert np.allclose(weighed, rows.T @ (weights[:, np.newaxis] * rows))


def test_ease_solves_each_labels_ridge_regression_on_the_other_labels(small):
    rows, weight = dense(small).astype(float), weights_of("ease", small, regularisation=3.0)
    for label in range(small.n_labels):
        others = np.delete(np.arange(small.n_labels), label)
        gram = rows[:, others].T @ rows[:, others] + 3.0 * np.eye(len(others))
        expected = np.linalg.solve(gram, rows[:, others].T @ rows[:, label])
        assert np.allclose(weight[others, label], expected, atol=1e-6)
        assert weight[label, label] == 0


def test_neighbours_are_the_most_similar_labels(small):
    similarity = cosine_similarity(dense(small).astype(float).T)
    np.fill_diagonal(similarity, 0)
    weight = weights_of("item_knn", small, neighbours=3)
    for label in range(small.n_labels):
        kept = np.flatnonzero(weight[:, label])
        assert len(kept) <= 3
        assert np.allclose(weight[kept, label], similarity[kept, label], atol=1e-6)
        assert np.isclose(weight[:, label].sum(), np.sort(similarity[:, label])[-3:].sum(), atol=1e-6)


def test_shrinkage_is_worth_so_many_images():
    weight = weights_of("item_knn", matrix_of([[0, 1], [0, 1], [0]], 3), shrinkage=2.0)
    assert weight[0, 1] == pytest.approx(2 / (np.sqrt(3 * 2) + 2))
    assert not weight[2].any()  # a label without images is no neighbour


def test_edlae_without_dropout_is_ease(small):
    edlae, ease = (
        weights_of(name, small, regularisation=3.0, **more)
        for name, more in (("edlae", {"dropout": 0.0}), ("ease", {}))
    )
    assert edlae.tobytes() == ease.tobytes()


def test_edlae_minimises_the_expected_error_of_labels_that_are_dropped_at_random(small):
    """An input label is kept with probability 1 - p and then divided by 1 - p, which adds to the mean of its square."""
    rows, p, ridge = dense(small).astype(float), 0.4, 3.0
    weight = weights_of("edlae", small, regularisation=ridge, dropout=p)
    gram = rows.T @ rows
    for label in range(small.n_labels):
        others = np.delete(np.arange(small.n_labels), label)
        own = gram[np.ix_(others, others)]
        expected_gram = np.where(np.eye(len(others)) > 0, own / (1 - p), own)
        expected = np.linalg.solve(expected_gram + ridge * np.eye(len(others)), gram[others, label])
        assert np.allclose(weight[others, label], expected, atol=1e-6)
        assert weight[label, label] == 0


def test_a_step_from_edlae_s_weights_raises_the_error_over_all_patterns_of_dropped_labels():
    p, ridge, inputs = 0.3, 0.5, matrix_of([[0, 1, 2], [0, 2], [1]], 3)
    weight = weights_of("edlae", inputs, regularisation=ridge, dropout=p)[:2, 2]
    rows = dense(inputs).astype(float)

    def loss(w):
        total = ridge * w @ w
        for row in rows:
            for kept in np.ndindex(2, 2):
                chance = np.prod([1 - p if k else p for k in kept])
                total += chance * (row[2] - (row[:2] * kept / (1 - p)) @ w) ** 2
        return total

    for step in ([1e-3, 0], [-1e-3, 0], [0, 1e-3], [0, -1e-3]):
        assert loss(weight + step) > loss(weight)


def test_rp3beta_is_a_walk_of_three_steps_over_the_label_s_frequency(small):
    rows, beta = dense(small).astype(float), 0.7
    from_label, from_image = (
        np.divide(m, m.sum(axis=1, keepdims=True), out=np.zeros_like(m), where=m.sum(axis=1, keepdims=True) > 0)
        for m in (rows.T, rows)
    )
    expected = from_label @ from_image / np.maximum(rows.sum(axis=0), 1) ** beta
    np.fill_diagonal(expected, 0)
    assert np.allclose(weights_of("rp3beta", small, beta=beta, neighbours=100), expected, atol=1e-6)


def test_rp3beta_keeps_the_labels_to_which_a_known_label_most_often_leads(small):
    everything = weights_of("rp3beta", small, beta=0.5, neighbours=100)
    kept = weights_of("rp3beta", small, beta=0.5, neighbours=3)
    for of_all, of_kept in zip(everything, kept, strict=True):
        assert np.count_nonzero(of_kept) <= 3
        assert of_kept.sum() == pytest.approx(np.sort(of_all)[-3:].sum())


def test_rp3beta_by_hand():
    """From label 0, half the walks reach the first image, and a third of these label 1, which has two images."""
    weight = weights_of("rp3beta", matrix_of([[0, 1, 2], [0], [1]], 4), beta=1.0, neighbours=9)
    assert weight[0, 1] == pytest.approx(1 / 2 * 1 / 3 / 2)
    assert weight[0, 2] == pytest.approx(1 / 2 * 1 / 3)
    assert not weight[3].any()
    assert not weight[:, 3].any()


@pytest.mark.parametrize(("l1", "l2"), [(0.01, 1.0), (1.0, 0.5), (2.5, 8.0)])
def test_slim_is_the_non_negative_elastic_net_of_scikit_learn(small, l1, l2):
    rows, weight = dense(small).astype(float), weights_of("slim", small, l1=l1, l2=l2)
    n_images = len(rows)
    for label in range(small.n_labels):
        others = rows.copy()
        others[:, label] = 0
        net = ElasticNet(
            alpha=(l1 + l2) / n_images, l1_ratio=l1 / (l1 + l2), positive=True, fit_intercept=False, tol=1e-10,
            max_iter=100_000,
        )  # fmt: skip
        assert np.allclose(weight[:, label], net.fit(others, rows[:, label]).coef_, atol=1e-5)


def test_slim_meets_the_conditions_of_the_minimum():
    """Of a weight above 0, the gradient is 0; of a weight of 0, it is not negative."""
    rng = np.random.default_rng(8)
    matrix = matrix_of([sorted(rng.choice(40, size, replace=False)) for size in rng.integers(0, 12, 300)], 40)
    model, rows = fit_to("slim", matrix, l1=2.0, l2=5.0)[0], dense(matrix).astype(float)
    weight = model.weight.astype(float)
    gradient = rows.T @ (rows @ weight - rows) + 5.0 * weight + 2.0
    np.fill_diagonal(gradient, 0)
    assert 100 < np.count_nonzero(weight) < 1000
    assert (weight >= 0).all()
    assert not np.diag(weight).any()
    assert np.abs(gradient[weight > 0]).max() < 1e-3
    assert gradient[weight == 0].min() > -1e-3


def test_slim_states_whether_it_reached_the_minimum(small, monkeypatch):
    for sweeps, converged in ((1000, True), (2, False)):
        monkeypatch.setattr(slim, "MOST_SWEEPS", sweeps)
        with workers(1) as pool:
            fitter = slim.Slim(problem_from(small, pool), settings_of("slim", l1=0.5, l2=0.5))
            fitter.model()
        assert fitter.solved.converged == converged
        assert fitter.solved.iterations <= sweeps


def test_pure_svd_projects_onto_the_first_singular_vectors(small):
    rows, factors = dense(small).astype(float), 5
    left, values, right = np.linalg.svd(rows, full_matrices=False)
    model, _ = fit_to("pure_svd", small, factors=factors)
    assert np.allclose(model.image @ model.label.T, left[:, :5] * values[:5] @ right[:5], atol=1e-5)
    assert np.allclose(model.label.T @ model.label, np.eye(factors), atol=1e-5)


def test_pure_svd_with_more_factors_than_labels_returns_the_labels_themselves(small):
    model, _ = fit_to("pure_svd", small, factors=50)
    assert model.label.shape == (12, 12)
    assert np.allclose(model.image @ model.label.T, dense(small), atol=1e-5)


@pytest.mark.parametrize(("name", "more"), [("ease", {}), ("edlae", {"dropout": 0.3})])
@pytest.mark.parametrize("rows_at_once", [2, 512])
def test_cholesky_gives_the_weights_of_the_inverse(small, monkeypatch, name, more, rows_at_once):
    monkeypatch.setattr(label_weights, "ROWS_AT_ONCE", rows_at_once)
    gram = dense(small).astype(float).T @ dense(small)
    frequency = np.diag(gram)
    added = 3.0 + (0.3 / 0.7 * frequency if more else 0.0 * frequency)
    inverse = np.linalg.inv(gram + np.diag(added))
    expected = -inverse / np.diag(inverse)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(weights_of(name, small, regularisation=3.0, **more), expected, atol=1e-6)


def test_a_matrix_is_inverted_in_place():
    """[[2, 1, 0], [1, 2, 1], [0, 1, 2]] has the determinant 4."""
    matrix = np.array([[2.0, 1, 0], [1, 2, 1], [0, 1, 2]])
    label_weights.invert(matrix)
    np.testing.assert_allclose(4 * matrix, [[3, -2, 1], [-2, 4, -2], [1, -2, 3]])


def test_a_matrix_that_is_not_positive_definite_is_not_inverted():
    with pytest.raises(np.linalg.LinAlgError):
        label_weights.invert(np.array([[1.0, 2], [2, 1]]))
