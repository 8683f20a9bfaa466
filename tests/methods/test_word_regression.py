"""Regression of word vectors, ConSE, correlated word vectors and the constant direction: against plain sums."""

import numpy as np
import pytest

from tests.builders import dense, matrix_of
from tests.methods.problems import (
    check_slopes,
    fitted,
    learnt_from,
    network,
    only,
    planted_labels,
    planted_words,
    problem_of,
    settings_of,
)
from vsebench.core.workers import workers
from vsebench.methods.base import load_method
from vsebench.methods.by_features.least_squares import weighted
from vsebench.methods.words.avg_wv import target_shares
from vsebench.methods.words.correlated_wv import nearest_words, targets

VECTORS = planted_words().vectors
KNOWN = np.arange(400) != 5


def ridge_of(rows, target, regularisation):
    """Return predictions for the rows themselves, from the normal equations with an unpenalised column of ones."""
    design = np.hstack([rows, np.ones((len(rows), 1))])
    penalty = regularisation * np.diag([*np.ones(rows.shape[1]), 0])
    return design @ np.linalg.solve(design.T @ design + penalty, design.T @ target)


@pytest.mark.parametrize("target", ["mean", "sum"])
def test_ridge_on_word_vectors_is_ridge_on_each_of_their_numbers(target):
    model, queries = fitted("avg_wv_ridge", "dense features", target=target, vectors="raw", regularisation=2.0)
    rows, carried = learnt_from("dense features")
    goal = carried @ VECTORS / (carried.sum(axis=1, keepdims=True) if target == "mean" else 1)
    expected = ridge_of(rows, goal, 2.0) @ VECTORS.T
    np.testing.assert_allclose(model.scores(queries)[KNOWN], expected, rtol=1e-3, atol=1e-2 * np.abs(expected).mean())


@pytest.mark.parametrize("target", ["mean", "sum"])
def test_an_images_target_is_the_mean_or_the_sum_and_0_without_a_label(target):
    actual = target_shares(matrix_of([[0, 2, 3], [], [1]], 4), target).toarray()
    share = 1 / 3 if target == "mean" else 1
    np.testing.assert_allclose(actual, [[share, 0, share, share], [0] * 4, [0, 1, 0, 0]])


def test_the_loss_of_the_network_is_the_squared_distance_to_the_target():
    fitter = network("avg_wv", vectors="raw")
    outputs = np.random.default_rng(1).normal(size=(4, 10)).astype(np.float32)
    slopes, images = outputs.copy(), np.array([3, 9, 30, 60])
    total = fitter.loss(slopes, images)
    carried = learnt_from("dense features")[1][images]
    difference = outputs - carried @ VECTORS / carried.sum(axis=1, keepdims=True)
    assert total == pytest.approx((difference**2).sum(), rel=1e-5)
    np.testing.assert_allclose(slopes, 2 * difference, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("score", ["dot", "cosine"])
def test_conse_is_the_mean_of_the_most_probable_labels_vectors(score):
    changes = {"vectors": "raw", "regularisation": 2.0, "most_probable": 3, "score": score}
    model, queries = fitted("conse", "dense features", **changes)
    chance = np.maximum(ridge_of(*learnt_from("dense features"), 2.0), 0)
    actual = model.scores(queries)[KNOWN]
    for row, scores in zip(chance, actual, strict=True):
        top = np.argsort(-row)[:3]
        expected = VECTORS @ (row[top] @ VECTORS[top] / row[top].sum())
        if score == "cosine":
            direction = row[top] @ VECTORS[top]
            expected = VECTORS @ direction / np.linalg.norm(VECTORS, axis=1) / np.linalg.norm(direction)
        np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


NETWORK = {"joint": False, "normalise": ["root", "l2"]}
EPOCHS = dict.fromkeys(["fast0tag", "s_fast0tag", "s_x_ent", "x_ent"], 15) | {"correlated_wv": 20}


@pytest.mark.parametrize("name", ["avg_wv_ridge", "conse", *EPOCHS])
def test_unseen_labels_of_a_group_are_found_by_their_words(name):
    """Images of a group carry six of eight labels; four labels, one of each group, are never learnt."""
    learnt = np.arange(32) % 8 != 3
    with workers(1) as pool:
        problem, queries = problem_of("dense features", pool)
    settings = settings_of(name, **(NETWORK if EPOCHS.get(name) == 15 else {}))
    fitter = load_method(name)(only(problem, learnt), settings)
    for _ in range(EPOCHS.get(name, 0)):
        fitter.epoch()
    scores = fitter.model().scores(queries)[:, ~learnt]
    right = (scores.argmax(axis=1) == queries.images % 4)[KNOWN].mean()
    assert right > (0.9 if EPOCHS.get(name) == 15 else 0.97)


def test_a_word_keeps_itself_and_the_word_nearest_to_it():
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32)
    nearest = np.array([[1, 0.8, 0], [0.8, 1, 0], [0, 0.6, 1]])
    expected = nearest / np.linalg.norm(nearest, axis=1, keepdims=True)
    np.testing.assert_allclose(nearest_words(vectors), expected, rtol=1e-6)


def test_a_target_keeps_the_images_labels_and_the_two_largest_entries():
    nearest = np.array([[5, 0, 4, 0, 1], [0, 1, 0, 3, 0]], dtype=np.float32)
    nearest = np.vstack([nearest, np.zeros((3, 5), dtype=np.float32)])
    labels = matrix_of([[0, 1], [], [0]], 5)
    actual = targets(weighted(labels, np.ones(3)).astype(np.float32), nearest)
    sums = np.array([[5, 1, 4, 0, 0], [0, 0, 0, 0, 0], [5, 0, 4, 0, 0]])
    np.testing.assert_allclose(actual, sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9), rtol=1e-6)


def test_derivatives_of_correlated_word_vectors_by_differences():
    scores = np.random.default_rng(2).normal(0, 1, (5, 32)).astype(np.float32)
    check_slopes(network("correlated_wv").loss, scores, [(0, 0), (2, 17), (4, 31)], 2e-3)


def test_the_constant_direction_is_the_mean_over_training_pairs():
    model, queries = fitted("constant_direction", "dense features", vectors="raw")
    carried = dense(planted_labels())
    expected = VECTORS @ (carried.sum(axis=0) @ VECTORS / carried.sum())
    np.testing.assert_allclose(model.scores(queries)[[0, 7]], np.tile(expected, (2, 1)), rtol=1e-4)
