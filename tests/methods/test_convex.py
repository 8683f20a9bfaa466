"""Softmax, logistic and kernel ridge regression: against scikit-learn and finite differences, and refused inputs."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression

from tests.builders import matrix_of
from tests.methods.problems import features_of, fit_to, fitted, full, learnt_from, problem_from, problem_of
from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.data.problem import Queries
from vsebench.methods.by_features import kernel_ridge
from vsebench.methods.by_features.convex import ConvexSettings, Logistic, Objective, cross_entropy, log_losses

LOSSES = {"softmax": cross_entropy, "logistic": log_losses}
WITH_FEATURES = ["dense features", "sparse features", "new images"]


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_the_gradient_is_the_slope_of_the_value(name, chunk, monkeypatch):
    monkeypatch.setattr("vsebench.methods.by_features.convex.SCORES_A_CHUNK", chunk * 4)
    rng = np.random.default_rng(1)
    labels = matrix_of([[0, 2], [1], [0, 1, 3], [3], [2]], 4)
    penalty, scale = np.array([[0.3], [0.1], [2.0]]), rng.uniform(0.5, 2, (4, 4))
    objective = Objective(rng.normal(size=(5, 3)).astype(np.float32), labels, LOSSES[name], penalty, scale)
    for scale in (0.1, 3):
        point = scale * rng.normal(size=16)
        value, gradient = objective(point)
        slopes = [(objective(point + step)[0] - objective(point - step)[0]) / 0.02 for step in 0.01 * np.eye(16)]
        assert np.allclose(gradient, slopes, atol=1e-4 * max(value, 1))


@pytest.mark.parametrize("name", LOSSES)
def test_the_loss_is_the_one_of_the_equation(name):
    scores, labels = np.array([[1.0, -2.0, 0.5]], dtype=np.float32), matrix_of([[0, 2]], 3)
    value, _ = LOSSES[name](scores.copy(), labels)
    shares = np.exp(scores[0]) / np.exp(scores[0]).sum()
    expected = {
        "softmax": -(np.log(shares[0]) + np.log(shares[2])) / 2,
        "logistic": np.log1p(np.exp([-1, -2, -0.5])).sum(),
    }
    assert value == pytest.approx(expected[name], rel=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_scores_of_any_size_have_finite_losses(name):
    scores = np.array([[1e4, -1e4, 0]], dtype=np.float32)
    value, slope = LOSSES[name](scores, matrix_of([[1]], 3))
    assert np.isfinite(value)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize(
    ("factors", "offset"),
    [(1, 0), (1, 10), (1, 1000), (10.0 ** np.arange(6), 0), (1e15, 0), (1e-5, 0)],
    ids=["as drawn", "+10", "+1000", "columns of many scales", "large", "small"],
)
def test_the_minimum_is_found_for_columns_of_any_scale_and_offset(factors, offset):
    rng = np.random.default_rng(2)
    values = (rng.normal(size=(400, 6)) * factors + offset).astype(np.float32)
    standard = (values - values.mean(axis=0, dtype=np.float64)) / values.std(axis=0, dtype=np.float64)
    carries = rng.random((400, 5)) < 1 / (1 + np.exp(1 - standard @ rng.normal(size=(6, 5))))
    labels = matrix_of([np.flatnonzero(of_image).tolist() for of_image in carries], 5)
    with workers(1) as pool:
        problem = problem_from(labels, pool, features=features_of(values))
        logistic = Logistic(problem, ConvexSettings(regularisation=3e-4, iterations=500))
        model = logistic.model()
        expected = newton(values.astype(np.float64), carries, 3e-4)
        scores = model.scores(Queries.of_new_images(values, 5))
    assert logistic.solved.converged
    assert np.allclose(scores, expected, atol=0.01)


def newton(values, carries, regularisation):
    """Return the scores of logistic regression, by Newton steps in float64 on standardised columns."""
    deviation = values.std(axis=0)
    columns = np.hstack([(values - values.mean(axis=0)) / deviation, np.ones((len(values), 1))])
    penalty = np.append(regularisation / deviation**2, 0)
    scores = np.empty(carries.shape)
    for label, carried in enumerate(carries.T):
        weight = np.zeros(columns.shape[1])
        for _ in range(50):
            share = 1 / (1 + np.exp(-columns @ weight))
            slope = columns.T @ (share - carried) / len(values) + penalty * weight
            curvature = (columns.T * share * (1 - share)) @ columns / len(values) + np.diag(penalty)
            weight -= np.linalg.solve(curvature, slope)
        scores[:, label] = columns @ weight
    return scores


def test_too_few_iterations_are_reported():
    with workers(1) as pool:
        problem, _ = problem_of("dense features", pool)
        logistic = Logistic(problem, ConvexSettings(regularisation=1e-4, iterations=2))
        logistic.model()
    assert not logistic.solved.converged
    assert logistic.solved.iterations == 2


@pytest.mark.parametrize("where", WITH_FEATURES)
def test_logistic_regression_is_that_of_scikit_learn(where):
    model, queries = fitted("logistic", where, regularisation=0.1, iterations=500)
    rows, truth = learnt_from(where)
    for label in (0, 9, 31):
        peer = LogisticRegression(C=1 / (0.1 * len(rows)), tol=1e-8, max_iter=1000).fit(rows, truth[:, label])
        expected = peer.decision_function(full(queries.features))
        assert np.allclose(model.scores(queries)[:, label], expected, atol=0.02)


@pytest.mark.parametrize("where", WITH_FEATURES)
def test_softmax_regression_is_that_of_scikit_learn(where):
    """An image with n labels is n images with one label each, of weight 1 / n."""
    model, queries = fitted("softmax", where, regularisation=0.1, iterations=500)
    rows, truth = learnt_from(where)
    images, labels = np.nonzero(truth)
    weights = 1 / truth.sum(axis=1)[images]
    peer = LogisticRegression(C=1 / (0.1 * len(rows)), tol=1e-8, max_iter=1000).fit(rows[images], labels, weights)
    expected = peer.decision_function(full(queries.features))
    actual = model.scores(queries)
    centred = (scores - scores.mean(axis=1, keepdims=True) for scores in (actual, expected))  # a shift changes no loss
    assert np.allclose(*centred, atol=0.02)


@pytest.mark.parametrize("where", WITH_FEATURES)
def test_kernel_ridge_is_that_of_scikit_learn(where):
    model, queries = fitted("kernel_ridge", where, gamma=1.5, regularisation=0.5)
    rows, truth = learnt_from(where)
    unit, of_queries = (
        x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12) for x in (rows, full(queries.features))
    )
    expected = KernelRidge(alpha=0.5, kernel="rbf", gamma=1.5).fit(unit, truth).predict(of_queries)
    assert np.allclose(model.scores(queries), expected, atol=1e-4)


@pytest.mark.parametrize("name", LOSSES)
def test_images_without_a_label_teach_softmax_nothing(name):
    values = [[1, 0], [0, 1], [1, 1]]
    model, _ = fit_to(name, matrix_of([[0], [1], []], 2), values)
    without, _ = fit_to(name, matrix_of([[0], [1]], 2), values[:2])
    assert np.array_equal(model.label, without.label) == (name == "softmax")


def test_a_kernel_of_too_many_images_is_refused(monkeypatch):
    monkeypatch.setattr(kernel_ridge, "LARGEST", 2)
    with pytest.raises(UserError, match="there are 3 training images, but at most 2 are allowed; use another method"):
        fit_to("kernel_ridge", matrix_of([[0], [1], [1]], 2), [[1, 0], [0, 1], [1, 1]])
