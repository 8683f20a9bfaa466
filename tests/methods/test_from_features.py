"""Ridge regression and nearest images: against scikit-learn and by hand; inputs that methods by features refuse."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestNeighbors

from tests.builders import dense, matrix_of
from tests.methods.problems import PROBLEMS, fit_to, fitted, full, learnt_from, methods_in, new_images
from vsebench import models
from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, write_arrays
from vsebench.data.problem import Queries
from vsebench.methods.by_features.neighbours import found_by_chance

BY_FEATURES = [name for name in methods_in("by_features") if name != "wsabie_ensemble"]  # its members are among them
WITH_FEATURES = [name for name, offers in PROBLEMS.items() if "features" in offers]


@pytest.mark.parametrize("where", WITH_FEATURES)
def test_ridge_is_that_of_scikit_learn(where):
    model, queries = fitted("ridge", where, regularisation=7.0)
    expected = Ridge(alpha=7.0).fit(*learnt_from(where)).predict(full(queries.features))
    assert np.allclose(model.scores(queries), expected, atol=1e-5)


def test_ridge_centres_a_constant_feature_away():
    matrix = matrix_of([[0], [1]], 2)
    model, _ = fit_to("ridge", matrix, [[1, 5], [-1, 5]], regularisation=2.0)
    # Without the constant: W = 1 / (2 + 2) of the centred labels (0.5, -0.5) x (1, -1).
    assert np.allclose(model.scores(new_images([[2, 5], [0, 5]], 2)), [[1, 0], [0.5, 0.5]], atol=1e-6)


@pytest.mark.parametrize("where", WITH_FEATURES)
def test_a_relative_penalty_is_a_multiple_of_the_mean_diagonal(where):
    rows, _ = learnt_from(where)
    absolute = 0.3 * len(rows) * full(rows).var(axis=0).mean()
    (relative, queries), (same, _) = (
        fitted("ridge", where, regularisation=value) for value in ({"relative": 0.3}, absolute)
    )
    assert np.allclose(relative.scores(queries), same.scores(queries), atol=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_a_relative_penalty_suits_features_of_any_scale(scale):
    matrix, rows = matrix_of([[0], [1], [0, 1]], 3), np.array([[1.0, 2], [-1, 0], [3, 1]])
    scores = [
        fit_to("ridge", matrix, rows * by, regularisation={"relative": 0.5})[0].scores(new_images(rows * by, 3))
        for by in (1, scale)
    ]
    assert np.allclose(*scores, atol=1e-5)


def test_with_a_relative_penalty_constant_features_leave_the_labels_frequency():
    model, _ = fit_to("ridge", matrix_of([[0], [0, 1]], 2), [[1, 5], [1, 5]], regularisation={"relative": 0.5})
    assert np.allclose(model.scores(new_images([[2, 7]], 2)), [[1, 0.5]])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, "regularisation.number: Input should be greater than 0, not -1"),
        ({"relative": 0}, "regularisation.relative.relative: Input should be greater than 0, not 0"),
        ({"times": 2}, "regularisation.relative.times: unknown key"),
    ],
)
def test_a_wrong_penalty_is_refused(value, message):
    with pytest.raises(UserError) as error:
        fitted("ridge", "new images", regularisation=value)
    assert message in str(error.value)


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
@pytest.mark.parametrize("weights", ["equal", "inverse_distance"])
def test_neighbours_are_those_of_scikit_learn(distance, weights):
    model, queries = fitted("nearest_images", "new images", neighbours=5, distance=distance, weights=weights)
    rows, carried = learnt_from("new images")
    search = NearestNeighbors(n_neighbors=5, metric=distance).fit(rows)
    distances, nearest = search.kneighbors(queries.features)
    each = np.ones_like(distances) if weights == "equal" else 1 / distances
    expected = np.einsum("nk,nkl->nl", each, carried[nearest])
    assert np.allclose(model.scores(queries) - model.second_key, expected, rtol=1e-3, atol=1e-5)


def test_cosines_weigh_neighbours_and_frequent_labels_come_first_of_equals():
    matrix = matrix_of([[0, 1], [1], [2]], 4)
    model, _ = fit_to("nearest_images", matrix, [[1, 0], [3, 4], [0, -9]], neighbours=2, weights="cosine")
    (scores,) = model.scores(new_images([[2, 0]], 4))
    assert scores == pytest.approx([1 + 0.5e-6, 1.6 + 1e-6, 0.5e-6, 0], abs=1e-9)


@pytest.mark.parametrize("where", ["new images", "sparse features"])
@pytest.mark.parametrize(
    ("changes", "weight"),
    [
        ({"weights": "cosine", "power": 4.0}, lambda cosine: cosine**4),
        (
            {"weights": "exponential", "sharpness": 5.0},
            lambda cosine: np.exp(5 * (cosine - cosine.max(axis=1, keepdims=True))),
        ),
    ],
)
@pytest.mark.parametrize(("neighbours", "skipped"), [(7, 0), (None, 0), (4, 2)])
def test_votes_are_weighed_by_powers_and_exponentials_of_the_cosine(where, changes, weight, neighbours, skipped):
    model, queries = fitted("nearest_images", where, neighbours=neighbours, skipped=skipped, **changes)
    rows, of_queries = full(model.features), full(queries.features)
    cosines = of_queries @ rows.T / np.maximum(np.linalg.norm(of_queries, axis=1), 1e-9)[:, None]
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, skipped:][:, :neighbours]
    weights = weight(np.take_along_axis(cosines, nearest, axis=1))
    expected = np.einsum("nk,nkl->nl", weights, dense(model.labels)[nearest])
    has_features = of_queries.any(axis=1)  # a row of zeros is at the same distance from all rows
    assert np.allclose((model.scores(queries) - model.second_key)[has_features], expected[has_features], rtol=1e-4)


def test_sparse_features_stay_sparse_and_find_the_same_neighbours(tmp_path):
    thin, queries = fitted("nearest_images", "sparse features", weights="inverse_distance")
    full, others = fitted("nearest_images", "dense features", weights="inverse_distance")
    assert sparse.issparse(thin.features)
    assert np.array_equal(queries.features.toarray(), others.features)
    some = np.flatnonzero(others.features.any(axis=1))
    # An image is its own neighbour, at a distance of nothing but rounding.
    expected, actual = (np.log(m.scores(q)[some]) for m, q in ((full, others), (thin, queries)))
    assert np.median(np.abs(actual - expected)) < 1e-4
    models.save(thin, tmp_path / "model.npz")
    arrays = read_arrays(tmp_path / "model.npz")
    write_arrays(tmp_path / "other.npz", **arrays | {"features.indices": arrays["features.indices"] + 12})
    with pytest.raises(UserError, match="column numbers of the sparse features are out of range"):
        models.load(tmp_path / "other.npz")


@pytest.mark.parametrize("where", ["dense features", "sparse features"])
@pytest.mark.parametrize(("only_first", "second", "later"), [(False, 0.25, 0.25), (True, 0.5, 0.0)])
def test_neighbours_found_by_chance_are_followed_by_the_next(where, only_first, second, later):
    model, queries = fitted("nearest_images", where, neighbours=1, found=0.5, only_first=only_first)
    noise = np.random.default_rng(1).standard_normal((4000, 3))
    shares = found_by_chance(noise, 9, model.settings).mean(axis=0)
    assert shares[:2] == pytest.approx([0.5, second], abs=0.03)
    assert shares[2:].sum() == pytest.approx(later, abs=0.03)
    assert np.array_equal(model.scores(queries), model.scores(queries))
    parts = np.arange(7), np.arange(7, len(queries.images))
    halves = [model.scores(Queries(queries.images[p], queries.known.rows(p), queries.features[p])) for p in parts]
    assert np.array_equal(np.vstack(halves), model.scores(queries))


def test_of_neighbours_at_the_same_distance_the_first_is_nearer():
    model, _ = fit_to("nearest_images", matrix_of([[0], [1], [2]], 3), [[1], [1], [1]], neighbours=2)
    (scores,) = model.scores(new_images([[1]], 3))
    assert scores.tolist() == [1.5, 1.5, 0.5]  # the second key adds a half: all are as frequent


@pytest.mark.parametrize(
    ("skipped", "expected"), [(1, [0.5, 1.5, 0.5]), (2, [0.5, 0.5, 1.5]), (3, [0.5] * 3), (5, [0.5] * 3)]
)
@pytest.mark.parametrize("weights", ["equal", "exponential"])
def test_the_nearest_images_are_passed_over(skipped, expected, weights):
    features = [[1, 0], [3, 4], [0, 9]]
    settings = {"neighbours": 1, "skipped": skipped, "weights": weights}
    model, _ = fit_to("nearest_images", matrix_of([[0], [1], [2]], 3), features, **settings)
    (scores,) = model.scores(new_images([[2, 0]], 3))
    assert np.round(scores * 2).tolist() == (np.array(expected) * 2 - (weights == "exponential")).tolist()


def test_frequency_orders_labels_of_as_many_neighbours():
    matrix = matrix_of([[0, 1], [1], [1]], 3)
    model, _ = fit_to("nearest_images", matrix, [[1, 0], [0, 1], [0, 2]], neighbours=1)
    (scores,) = model.scores(new_images([[1, 0.1]], 3))
    assert scores == pytest.approx([1 + 0.5 / 3, 1 + 0.5, 0])


@pytest.mark.parametrize("name", [name for name in BY_FEATURES if name != "cca_knn"])  # it needs word vectors, too
def test_images_without_features_are_left_out_of_the_fit(name):
    labels, values = [[0], [1], [0], [1, 2]] * 5, np.random.default_rng(4).normal(size=(20, 6))
    normalise = ["standard"]
    if name == "nmf_knn":  # it takes no negative values
        values, normalise = np.abs(values), ["l2"]
    known = np.arange(20) < 15
    one, _ = fit_to(name, matrix_of(labels, 3), values * known[:, None], known=known, normalise=normalise)
    other, _ = fit_to(name, matrix_of(labels[:15], 3), values[:15], normalise=normalise)
    of_queries = new_images(values, 3)
    assert np.array_equal(one.scores(of_queries), other.scores(of_queries))


@pytest.mark.parametrize("name", BY_FEATURES)
def test_nothing_to_learn_from_is_refused(name):
    with pytest.raises(UserError, match="no training image has both features and a label"):
        fit_to(name, matrix_of([[0], [1]], 2), np.zeros((2, 3)), known=[False, False])


@pytest.mark.parametrize("name", ["ridge", "kernel_ridge", "nearest_images"])
@pytest.mark.parametrize("normalise", [[], ["l2"], ["standard"]])
def test_images_that_cannot_be_scored_are_refused(name, normalise):
    model, _ = fit_to(name, matrix_of([[0], [1]], 2), [[1, 0, 1], [0, 1, 1]], normalise=normalise)
    with pytest.raises(UserError, match="this model was fitted to 3 features per image, but these images have 2"):
        model.scores(new_images([[1, 2]], 2))
    without = Queries(np.array([0], dtype=np.int32), matrix_of([[]], 2))
    with pytest.raises(UserError, match="scores images by their features, but these images have none"):
        model.scores(without)
