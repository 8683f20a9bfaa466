"""The kernels of a search, against NumPy in float64."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from vsebench.core.errors import UserError
from vsebench.kernels.ranking.neighbours import (
    add_lists,
    add_scan,
    add_votes,
    nearest_dense,
    nearest_sparse,
    round_in_order,
    select,
    split_by_rounding,
)
from vsebench.methods.by_features.neighbours import Search, parts_of, prepare


def rows_of(n, d, seed, density=0.3):
    """Return rows of few different whole numbers, so that many are at the same distance."""
    rng = np.random.default_rng(seed)
    return (rng.integers(1, 3, (n, d)) * (rng.random((n, d)) < density)).astype(np.float32)


def nearest_by_sorting(rows, queries, halves, k):
    keys = queries.astype(np.float64) @ rows.astype(np.float64).T - halves
    return np.sort(np.argsort(-keys, axis=1, kind="stable")[:, :k], axis=1)


@given(values=st.lists(st.integers(-3, 3) | st.floats(-1e6, 1e6, width=32), min_size=1), data=st.data())
def test_the_value_of_a_rank_is_that_of_sorting(values, data):
    numbers = np.array(values, dtype=np.float32)
    rank = data.draw(st.integers(0, len(values) - 1))
    reordered = numbers.copy()
    assert select(reordered, rank) == np.sort(numbers)[rank]
    assert np.array_equal(np.sort(reordered), np.sort(numbers))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 300])
def test_rows_left_open_by_rounding_are_those_within_the_slack(n):
    rng = np.random.default_rng(n)
    keys, slack = rng.integers(0, 20, n).astype(np.float32), np.float32(1.0)
    for k in {1, (n + 1) // 2, n}:
        sure, actual = np.empty(k, dtype=np.int32), np.empty(n, dtype=np.int32)
        groups = np.empty(min(8 * k, n), dtype=np.float32)
        n_sure, n_open = split_by_rounding(keys, k, slack, sure, actual, groups)
        smallest = np.sort(keys)[n - k]
        assert sure[:n_sure].tolist() == np.flatnonzero(keys > smallest + 1).tolist()
        assert actual[:n_open].tolist() == np.flatnonzero(np.abs(keys - smallest) <= 1).tolist()


@pytest.mark.parametrize("k", [1, 3, 50, 200])
@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("kind", ["dense", "lists", "scan"])
def test_the_nearest_rows_and_their_keys_are_exact(kind, half, k):
    rows, queries = rows_of(200, 12, 1), rows_of(20, 12, 2)
    halves = half * np.einsum("nd,nd->n", rows, rows, dtype=np.float64) / 2
    keys = queries @ rows.T - halves.astype(np.float32)
    slacks = np.full(20, 1e-3, dtype=np.float32)
    if kind == "dense":
        near, kept = nearest_dense(keys, queries, rows, halves, slacks, k)
    else:
        sparse_rows = sparse.csr_array(rows)
        spread, of_queries = np.zeros(12, dtype=np.float32), parts_of(sparse.csr_array(queries))
        actual = np.tile(-halves.astype(np.float32), (20, 1))
        if kind == "lists":
            add_lists(actual, of_queries, parts_of(sparse_rows.tocsc()))
        else:
            add_scan(actual, of_queries, parts_of(sparse_rows), spread)
        assert np.array_equal(actual, keys)
        near, kept = nearest_sparse(actual, of_queries, parts_of(sparse_rows), halves, slacks, spread, k)
        assert not spread.any()
    assert np.array_equal(near, nearest_by_sorting(rows, queries, halves, k))
    assert np.array_equal(kept, np.take_along_axis(keys, near.astype(int), axis=1))


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_search_is_exact_where_float32_is_not(kind, distance):
    """Rows differ from the query by less than the rounding of their products."""
    rng = np.random.default_rng(3)
    base = rng.uniform(1, 2, 300).astype(np.float32)
    rows = base + rng.integers(-2, 3, (400, 300)).astype(np.float32) * np.float32(2.0**-20)
    rows = prepare(sparse.csr_array(rows) if kind == "sparse" else rows, distance)
    queries = prepare(sparse.csr_array(base[np.newaxis]) if kind == "sparse" else base[np.newaxis], distance)
    near, _ = Search(rows, distance).nearest(queries, 7)
    x, q = (m.toarray() if kind == "sparse" else m for m in (rows, queries))
    halves = np.einsum("nd,nd->n", x, x, dtype=np.float64) / 2 if distance == "euclidean" else 0
    exact = x.astype(np.float64) @ q[0].astype(np.float64) - halves
    assert near.shape == (1, 7)
    # Sums in another order differ in the last digits of float64; none of the others may be nearer by more.
    assert exact[near[0]].min() >= np.delete(exact, near[0]).max() - 1e-12


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_common_features_need_no_lists(share, distance, monkeypatch):
    """No feature is common, some are, all are: the products are the same."""
    monkeypatch.setattr("vsebench.methods.by_features.neighbours.COMMON", share)
    monkeypatch.setattr("vsebench.methods.by_features.neighbours.SPARSE_PRODUCTS", 700)
    density = np.linspace(0.05, 0.9, 30)
    rows, queries = rows_of(100, 30, 6, density), rows_of(20, 30, 7, density)
    thin, of_queries = prepare(sparse.csr_array(rows), distance), prepare(sparse.csr_array(queries), distance)
    near, keys = Search(thin, distance).nearest(of_queries, 5)
    dense, others = Search(prepare(rows, distance), distance), prepare(queries, distance)
    expected, values = dense.nearest(others, 5)
    assert np.array_equal(near, expected)
    assert np.allclose(keys, values, atol=1e-5)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_of_equal_rows_the_first_ones_are_taken(kind):
    rows = np.tile(np.random.default_rng(4).random((5, 40), dtype=np.float32), (60, 1))
    rows = prepare(sparse.csr_array(rows) if kind == "sparse" else rows, "cosine")
    near, _ = Search(rows, "cosine").nearest(rows[:5], 4)
    assert near.tolist() == [[i, i + 5, i + 10, i + 15] for i in range(5)]


def test_dense_and_sparse_rows_give_the_same_distances():
    rows = rows_of(50, 12, 5)
    near = np.tile(np.arange(50, dtype=np.int32), (50, 1))
    for distance in ("cosine", "euclidean"):
        dense, thin = (prepare(kind, distance) for kind in (rows, sparse.csr_array(rows)))
        actual = Search(dense, distance).distances(dense, near)
        assert np.allclose(actual, Search(thin, distance).distances(thin, near), atol=1e-12)
    expected = np.linalg.norm(rows[:, np.newaxis].astype(float) - rows, axis=2)
    assert np.allclose(actual, expected, atol=1e-6)


def test_votes_are_added_up_label_by_label():
    scores = np.zeros((1, 3))
    near, weights = np.array([[2, 0]], dtype=np.int32), np.array([[1.0, 0.25]])
    add_votes(scores, near, weights, np.array([0, 2, 2, 3]), np.array([0, 1, 1], dtype=np.int32))
    assert scores.tolist() == [[0.25, 1.25, 0]]


def test_different_sums_of_votes_stay_different_in_float32():
    without_votes = np.array([0.0, 5e-7, 1e-6, 0.0, 2e-7])
    votes = np.array([[30.0, 30.0, 30.0, 0.0, 30.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    sums, scores = votes + without_votes, np.empty((2, 5), dtype=np.float32)
    assert len(set(sums[0].astype(np.float32))) < 5
    round_in_order(sums, without_votes, scores)
    assert np.argsort(scores[0]).tolist() == [3, 0, 4, 1, 2]
    assert len(set(scores[0])) == 5
    np.testing.assert_allclose(scores, sums, rtol=1e-6)
    assert np.array_equal(scores[1], sums[1].astype(np.float32))


def test_equal_sums_of_votes_stay_equal_in_float32():
    sums, scores = np.array([[0.5, 0.5, 0.5 + 1e-12, 0.1]]), np.empty((1, 4), dtype=np.float32)
    round_in_order(sums, np.zeros(4), scores)
    assert scores[0, 0] == scores[0, 1] < scores[0, 2]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("too_large", ["rows", "queries"])
def test_features_that_are_too_large_for_distances_are_refused(kind, too_large):
    small = np.ones((3, 2), dtype=np.float32)
    large = small * np.float32(3e19)
    rows, queries = (large, small) if too_large == "rows" else (small, large)
    with pytest.raises(UserError, match=r"has the norm 4\.24e\+19, which is too large"):
        Search(kind(rows), "euclidean").nearest(kind(queries), 2)
