"""The baselines that score by weights between labels."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from tests.builders import dense, matrix_of
from tests.methods.problems import fit_to
from vsebench.kernels.cooccurrence import count_together


def weights_of(name, matrix, **changes):
    return fit_to(name, matrix, **changes)[0].weight


def test_labels_on_the_same_images_are_counted(small):
    rows = dense(small).astype(float)
    assert np.array_equal(count_together(small.offsets, small.label_of_pair, small.n_labels), rows.T @ rows)


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
