"""CCA-KNN: against an eigenvalue problem in NumPy, planted common directions, a hand-worked vote, and edge cases."""

from dataclasses import replace

import numpy as np
import pytest

from tests.builders import dense, matrix_of
from tests.methods.problems import (
    fit_to,
    fitted,
    full,
    learnt_from,
    new_images,
    planted_labels,
    planted_words,
    problem_of,
    settings_of,
)
from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.data.problem import WordVectors
from vsebench.methods.base import load_method
from vsebench.methods.by_features.cca_knn import canonical


def centred(n, d, seed):
    rows = np.random.default_rng(seed).normal(size=(n, d))
    return rows - rows.mean(axis=0)


def plain_projection(left, right, components, regularisation):
    """Return projection and correlations as eigenvectors of C_xx^-1 C_xt C_tt^-1 C_tx, of length 1 in C_xx + a I."""
    own = left.T @ left
    own += regularisation * np.diag(own).mean() * np.eye(len(own))
    other = right.T @ right
    other += regularisation * np.diag(other).mean() * np.eye(len(other))
    cross = left.T @ right
    squares, vectors = np.linalg.eig(np.linalg.inv(own) @ cross @ np.linalg.inv(other) @ cross.T)
    order = np.argsort(-squares.real)[:components]
    vectors = vectors.real[:, order]
    return vectors / np.sqrt(np.einsum("dk,de,ek->k", vectors, own, vectors)), np.sqrt(squares.real[order])


@pytest.mark.parametrize("regularisation", [1e-6, 0.1, 3.0])
def test_directions_are_those_of_the_eigenvalue_problem(regularisation):
    left, right = centred(80, 6, 1), centred(80, 4, 2)
    right += left[:, :4] @ np.diag([2, 1, 0.5, 0.2])
    projection, correlations = canonical(left, right, 3, regularisation)
    expected, expected_correlations = plain_projection(left, right, 3, regularisation)
    np.testing.assert_allclose(correlations, expected_correlations, atol=1e-8)
    np.testing.assert_allclose(np.abs(projection), np.abs(expected), atol=1e-7)


def test_a_planted_common_direction_is_found_and_the_others_are_not_correlated():
    rng = np.random.default_rng(6)
    common = rng.normal(size=2000)
    left, right = rng.normal(size=(2000, 5)), rng.normal(size=(2000, 3))
    left[:, 3] = common + 0.1 * rng.normal(size=2000)
    right[:, 1] = -common
    projection, correlations = canonical(left - left.mean(axis=0), right - right.mean(axis=0), 3, 1e-6)
    assert correlations[0] == pytest.approx(1 / np.sqrt(1.01), abs=0.002)
    assert correlations[1] < 0.1
    direction = np.abs(projection[:, 0]) / np.linalg.norm(projection[:, 0])
    assert direction[3] > 0.999


def test_columns_that_are_always_0_do_not_stop_the_analysis():
    projection, correlations = canonical(np.zeros((5, 2)), centred(5, 3, 1), 2, 1.0)
    assert np.isfinite(projection).all()
    np.testing.assert_allclose(correlations, 0)


def plain_scores(rows, text, has_text, queries, carried, settings):
    """Return scores by the definition: projections, cosines, the nearest images, and their weighted votes."""
    middle = rows[has_text].mean(axis=0)
    left, right = rows[has_text] - middle, text[has_text] - text[has_text].mean(axis=0)
    projection, correlations = plain_projection(left, right, settings.components, settings.regularisation)
    projection = projection * correlations**settings.power
    of_images, of_queries = ((part - middle) @ projection for part in (rows, queries))
    cosines = of_queries @ of_images.T
    cosines /= np.linalg.norm(of_queries, axis=1)[:, np.newaxis] * np.linalg.norm(of_images, axis=1)
    scores = []
    for own in cosines:
        nearest = np.argsort(-own)[: settings.neighbours]
        scores.append(np.exp(settings.sharpness * (own[nearest] - own.max())) @ carried[nearest])
    return np.array(scores)


@pytest.mark.parametrize("where", ["dense features", "sparse features", "two sets of features"])
@pytest.mark.parametrize("name", ["cca_knn", "cca_knn_labels"])
def test_scores_are_those_of_a_plain_program(name, where):
    changes = {"components": 3, "neighbours": 7, "normalise": [], "regularisation": 0.1}
    model, queries = fitted(name, where, **changes)
    rows, carried = learnt_from(where)
    words = planted_words().scaled("unit").astype(np.float64)
    text = carried if name == "cca_knn_labels" else carried @ words / carried.sum(axis=1, keepdims=True)
    everything = np.ones(len(rows), dtype=bool)
    kept = np.arange(400) != 5
    own = full(queries.features)[kept]
    expected = plain_scores(rows, text, everything, own, carried, settings_of(name, **changes))
    np.testing.assert_allclose(model.scores(queries)[kept], expected, atol=2e-3)


def test_a_neighbour_votes_with_the_exponential_of_its_cosine():
    """By hand: one component, so that all cosines are 1 or -1."""
    values = np.array([[1.0], [2.0], [-1.0], [-2.0]])
    changes = {"components": 1, "neighbours": 4, "sharpness": 0.5, "normalise": [], "power": 0.0}
    model, _ = fit_to("cca_knn_labels", matrix_of([[0], [0], [1], [1]], 2), values, **changes)
    scores = model.scores(new_images([[3.0]], 2))
    np.testing.assert_allclose(scores, [[2, 2 * np.exp(-1)]], rtol=1e-5)


def test_an_image_whose_labels_have_no_word_vector_is_a_neighbour_but_not_in_the_analysis():
    words = planted_words().vectors.copy()
    words[:8] = 0  # all labels of the first group
    with workers(1) as pool:
        problem, queries = problem_of("dense features", pool)
    problem = replace(problem, word_vectors=WordVectors(words, words.any(axis=1)))
    changes = {"components": 3, "neighbours": 500, "normalise": [], "regularisation": 0.1}
    settings = settings_of("cca_knn", **changes)
    scores = load_method("cca_knn")(problem, settings).model().scores(queries)
    rows, carried = learnt_from("dense features")
    known = words.any(axis=1)
    text = carried @ WordVectors(words, known).scaled("unit") / np.maximum(carried[:, known].sum(axis=1), 1)[:, None]
    kept = np.arange(400) != 5
    expected = plain_scores(rows, text, carried[:, known].any(axis=1), full(queries.features)[kept], carried, settings)
    np.testing.assert_allclose(scores[kept], expected, atol=2e-3)
    assert (scores[::4, :8].sum(axis=1) > 1).all()


def test_without_any_word_vector_the_message_names_the_other_variant():
    with workers(1) as pool:
        problem, _ = problem_of("dense features", pool)
    nothing = WordVectors(np.zeros((32, 4), dtype=np.float32), np.zeros(32, dtype=bool))
    method = load_method("cca_knn")(replace(problem, word_vectors=nothing), settings_of("cca_knn"))
    with pytest.raises(UserError, match=r"^cca_knn: no label .* has a word vector; use cca_knn_labels$"):
        method.model()


def test_images_without_a_label_are_no_neighbours():
    labels = planted_labels()
    rows = [[] if i % 8 == 0 else list(np.flatnonzero(row)) for i, row in enumerate(dense(labels))]
    with workers(1) as pool:
        problem, _ = problem_of("dense features", pool)
    training = replace(problem.training, labels=matrix_of(rows, 32))
    model = load_method("cca_knn")(replace(problem, training=training), settings_of("cca_knn")).model()
    assert model.labels.n_rows == 400 - 50 - 1  # image 5 has no features
    assert (model.labels.n_labels_of_row > 0).all()
