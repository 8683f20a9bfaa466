"""Tip-Adapter, against plain sums, by hand, and on planted truth that cosines alone, or votes alone, do not contain."""

from dataclasses import replace

import numpy as np
import pytest

from tests.builders import matrix_of
from tests.methods.problems import (
    features_of,
    fitted,
    full,
    learnt_from,
    new_images,
    problem_of,
    settings_of,
    words_among_features,
)
from vsebench import models
from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.data.problem import Problem, Training, WordVectors
from vsebench.methods.base import load_method


def fit(labels, values, words, learnt=None, **settings):
    """Return Tip-Adapter fitted to lists of labels, features (n, d) and label vectors (n_labels, d)."""
    words = np.asarray(words, dtype=np.float32)
    training = Training.all_of(matrix_of(labels, len(words)))
    if learnt is not None:
        training = replace(training, learnt=np.asarray(learnt))
    with workers(1) as pool:
        problem = Problem(training, 1, pool, features_of(values), WordVectors(words, words.any(axis=1)))
        return load_method("tip_adapter")(problem, settings_of("tip_adapter", **settings)).model()


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


@pytest.mark.parametrize("where", ["dense features", "sparse features", "new images", "unseen labels"])
def test_scores_are_cosines_plus_weighted_votes(where):
    model, queries = fitted("tip_adapter", where, alpha=0.2, beta=3.0)
    words = words_among_features().vectors.astype(np.float64)
    rows, labels = learnt_from(where)
    with_label = labels.any(axis=1)
    near = unit(full(queries.features)) @ unit(rows[with_label]).T
    expected = unit(full(queries.features)) @ unit(words).T + 0.2 * np.exp(-3 * (1 - near)) @ labels[with_label]
    np.testing.assert_allclose(model.scores(queries), expected, rtol=1e-4, atol=1e-5)


def test_scores_of_two_training_images_by_hand():
    """The image has the cosine 1 with the first training image and 0 with the second, and 0.6 and 0.8 with labels."""
    model = fit([[0, 1], [1]], [[2.0, 0.0], [0.0, 3.0]], [[3.0, 4.0], [4.0, 3.0]], alpha=0.5, beta=2.0)
    scores = model.scores(new_images([[5.0, 0.0]], 2))
    np.testing.assert_allclose(scores, [[0.6 + 0.5, 0.8 + 0.5 + 0.5 * np.exp(-2)]], rtol=1e-6)


def test_without_weight_the_score_is_the_zero_shot_cosine():
    model, queries = fitted("tip_adapter", "new images", alpha=0.0)
    cosines, _ = fitted("zero_shot_cosine", "new images")
    np.testing.assert_allclose(model.scores(queries), cosines.scores(queries), rtol=1e-5, atol=1e-6)


def test_a_label_that_is_not_learnt_has_its_cosine():
    labels = [[0], [0]]  # the split removes labels that are not learnt
    model = fit(labels, np.eye(2), [[1.0, 0.0], [0.6, 0.8]], learnt=[True, False], alpha=10.0)
    assert model.scores(new_images([[1.0, 0.0]], 2))[0, 1] == pytest.approx(0.6)


def test_images_correct_wrong_words_and_words_rank_labels_without_images():
    """Labels 0 to 3 have images around their own axis. The words of 0 and 1 are exchanged; label 3 has no image."""
    rng = np.random.default_rng(1)
    axes = np.eye(4, 8)
    values = np.repeat(axes[:3], 20, axis=0) + rng.normal(0, 0.1, (60, 8))
    model = fit([[image // 20] for image in range(60)], values, axes[[1, 0, 2, 3]], alpha=0.1, beta=5.5)
    scores = model.scores(new_images(axes + rng.normal(0, 0.1, (4, 8)), 4))
    assert scores.argmax(axis=1).tolist() == [0, 1, 2, 3]
    alone = fit([[image // 20] for image in range(60)], values, axes[[1, 0, 2, 3]], alpha=0.0)
    assert alone.scores(new_images(axes, 4)).argmax(axis=1).tolist() == [1, 0, 2, 3]


def test_a_saved_model_gives_the_same_scores(tmp_path):
    model, queries = fitted("tip_adapter", "sparse features")
    models.save(model, tmp_path / "model.npz")
    assert np.array_equal(models.load(tmp_path / "model.npz").scores(queries), model.scores(queries))


def test_features_and_word_vectors_of_other_networks_are_one_line():
    with workers(1) as pool:
        problem, _ = problem_of("dense features", pool)
    with pytest.raises(UserError, match=r"^features have 12 dimensions and word vectors 10; tip_adapter needs both"):
        load_method("tip_adapter")(problem, settings_of("tip_adapter")).model()
