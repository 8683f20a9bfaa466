"""Products with rows of features and sums along them, dense and sparse, against NumPy."""

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from tests.reference.arrays import padded
from vsebench.kernels.sgd.image_rows import (
    add_row,
    add_to_rows,
    by_label,
    new_image_rows,
    new_weights,
    score,
    sum_of_rows,
)
from vsebench.kernels.vectors import LANES, padded_size

KINDS = ["dense", "sparse"]


def features(d, n=9, seed=1):
    """Return (n, d) float32 with many zeros; row 0 has none, row 1 has only these."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(0, 1, (n, d)) * (rng.random((n, d)) < 0.4)
    rows[0] = rng.normal(0, 1, d)
    rows[1] = 0
    return rows.astype(np.float32)


def of_kind(rows, kind):
    return sparse.csr_array(rows) if kind == "sparse" else rows


def matrix(n_rows, n_columns):
    return padded(np.random.default_rng(2).normal(0, 1, (n_rows, n_columns)))


@njit
def call_sum_of_rows(rows, i, weights, total):
    sum_of_rows(rows, i, weights, total)


@njit
def call_add_to_rows(rows, i, weights, direction):
    add_to_rows(rows, i, weights, direction)


@njit
def call_score(rows, i, weights, c):
    return score(rows, i, weights, c)


@njit
def call_add_row(rows, i, weights, c, size):
    add_row(rows, i, weights, c, size)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 3, 16, 37, 64, 100])
class TestAgainstNumPy:
    def test_sum_of_rows(self, kind, d):
        x, weights, total = features(d), matrix(padded_size(d), 20), matrix(1, 20)
        for i in range(len(x)):
            call_sum_of_rows(new_image_rows(of_kind(x, kind)), i, weights, total)
            np.testing.assert_allclose(total[0], x[i] @ weights[:d], rtol=1e-5, atol=1e-5)

    def test_add_to_rows(self, kind, d):
        x, weights, direction = features(d), matrix(padded_size(d), 20), matrix(1, 20)
        expected = weights.copy()
        for i in range(len(x)):
            call_add_to_rows(new_image_rows(of_kind(x, kind)), i, weights, direction)
            expected[:d] += np.outer(x[i], direction[0])
        np.testing.assert_allclose(weights, expected, rtol=1e-5, atol=1e-5)

    def test_score(self, kind, d):
        x, rows = features(d), new_image_rows(of_kind(features(d), kind))
        weights = new_weights(rows, d, 4)
        vectors = matrix(4, d)[:, :d]
        by_label(rows, weights, d, 4)[:] = vectors
        actual = [[call_score(rows, i, weights, c) for c in range(4)] for i in range(len(x))]
        np.testing.assert_allclose(actual, x @ vectors.T, rtol=1e-5, atol=1e-5)

    def test_add_row(self, kind, d):
        x, rows = features(d), new_image_rows(of_kind(features(d), kind))
        weights, expected = new_weights(rows, d, 4), matrix(4, d)[:, :d]
        by_label(rows, weights, d, 4)[:] = expected
        expected[2] += np.float32(0.3) * x[0]
        call_add_row(rows, 0, weights, 2, np.float32(0.3))
        np.testing.assert_allclose(by_label(rows, weights, d, 4), expected, rtol=1e-6, atol=1e-6)
        assert np.count_nonzero(weights) == np.count_nonzero(expected)

    def test_squares_are_squared_lengths(self, kind, d):
        rows = new_image_rows(of_kind(features(d), kind), constant=True)
        np.testing.assert_allclose(rows.squares, (features(d) ** 2).sum(axis=1) + 1, rtol=1e-6)

    def test_a_constant_feature_comes_last(self, kind, d):
        x, total = features(d), matrix(1, 1)
        rows = new_image_rows(of_kind(x, kind), constant=True)
        weights = np.zeros((padded_size(d + 1), LANES), dtype=np.float32)
        weights[d] = 5
        for i in range(len(x)):
            call_sum_of_rows(rows, i, weights, total)
            assert (total == 5).all()


def test_a_sparse_row_holds_its_non_zeros_alone():
    rows = new_image_rows(sparse.csr_array(np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3]], dtype=np.float32)))
    assert rows.offsets.tolist() == [0, 1, 1, 3]
    assert rows.columns.tolist() == [1, 0, 2]
    assert rows.values.tolist() == [2, 1, 3]
