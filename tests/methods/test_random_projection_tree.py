"""The random projection tree: its leaves, its directions, the leaf of a query, and damaged files."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from tests.builders import dense
from tests.methods.problems import fitted
from vsebench import models
from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, write_arrays
from vsebench.kernels.ranking.projection_tree import direction, project_sparse
from vsebench.methods.by_features.neighbours import parts_of
from vsebench.methods.by_features.random_projection_tree import descend, grow

SEED = np.uint64(7)


def rows_of(n, d, seed=1):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("n", "levels"), [(1, 0), (7, 2), (100, 3), (103, 5), (64, 6)])
def test_leaves_are_ranges_of_all_rows_and_differ_by_at_most_one(kind, n, levels):
    order, bounds, thresholds = grow(kind(rows_of(n, 5)), levels, SEED)
    assert sorted(order) == list(range(n))
    assert set(np.diff(bounds)) <= {n // 2**levels, -(-n // 2**levels)}
    assert (len(bounds), len(thresholds)) == (2**levels + 1, 2**levels - 1)
    assert all((np.diff(order[start:stop]) > 0).all() for start, stop in pairwise(bounds))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_equal_rows_are_split_in_halves_by_their_numbers(kind):
    order, bounds, thresholds = grow(kind(np.ones((10, 3), dtype=np.float32)), 1, SEED)
    assert order.tolist() == list(range(10))
    assert bounds.tolist() == [0, 5, 10]
    assert descend(kind(np.ones((1, 3), dtype=np.float32)), thresholds, SEED).tolist() == [0]  # equal goes left


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_every_row_is_found_in_its_own_leaf(kind):
    rows = kind(rows_of(100, 5))
    order, bounds, thresholds = grow(rows, 4, SEED)
    leaf_of_row = np.empty(100, dtype=int)
    leaf_of_row[order] = np.repeat(np.arange(16), np.diff(bounds))
    assert descend(rows, thresholds, SEED).tolist() == leaf_of_row.tolist()


def test_dense_and_sparse_rows_grow_the_same_tree():
    rows = rows_of(200, 8)
    one, other = grow(rows, 4, SEED), grow(sparse.csr_array(rows), 4, SEED)
    assert np.array_equal(one[0], other[0])
    assert np.allclose(one[2], other[2], atol=1e-6)


def test_a_threshold_is_the_mean_of_the_two_middle_projections():
    rows = rows_of(6, 4)
    middle = np.sort(rows.astype(float) @ direction(SEED, 0, 4))[2:4]
    assert grow(rows, 1, SEED)[2] == pytest.approx([middle.mean()])


def test_directions_are_normal_and_each_node_has_its_own():
    entries = np.stack([direction(SEED, node, 5000) for node in range(4)])
    assert np.abs(entries.mean(axis=1)).max() < 5 / np.sqrt(5000)
    assert np.abs(entries.std(axis=1) - 1).max() < 5 / np.sqrt(2 * 5000)
    assert np.abs(np.corrcoef(entries) - np.eye(4)).max() < 5 / np.sqrt(5000)
    assert np.mean(np.abs(entries) < 1) == pytest.approx(0.6827, abs=5 * np.sqrt(0.22 / 20000))
    assert not np.allclose(direction(np.uint64(8), 0, 5000), entries[0])


def test_a_sparse_projection_makes_only_the_entries_that_it_needs():
    rows = sparse.csr_array(np.array([[0, 2, 0, 1], [0, 0, 0, 3]], dtype=np.float32))
    entries, made_for = np.full(4, np.nan), np.full(4, -1)
    whole = direction(SEED, 5, 4)
    actual = project_sparse(parts_of(rows), np.array([1, 0]), SEED, 5, entries, made_for)
    assert actual == pytest.approx([3 * whole[3], 2 * whole[1] + whole[3]])
    assert made_for.tolist() == [-1, 5, -1, 5]


@pytest.mark.parametrize("where", ["new images", "sparse features"])
def test_a_tree_without_levels_scores_as_nearest_images(where):
    settings = {"neighbours": 9, "weights": "exponential", "normalise": ["l2"]}
    tree, queries = fitted("random_projection_tree", where, levels=0, **settings)
    exact, _ = fitted("nearest_images", where, **settings)
    assert np.allclose(tree.scores(queries), exact.scores(queries), rtol=1e-4)


@pytest.mark.parametrize("where", ["new images", "sparse features"])
def test_a_query_is_compared_with_the_images_of_its_leaf(where):
    model, queries = fitted("random_projection_tree", where, levels=3, neighbours=None, weights="equal")
    _, leaves = model.leaves(queries)
    has = dense(model.labels)
    expected = [has[model.bounds[leaf] : model.bounds[leaf + 1]].sum(axis=0) for leaf in leaves]
    assert np.array_equal(np.rint(model.scores(queries) - model.second_key), expected)


def test_there_are_no_more_leaves_than_images():
    model, _ = fitted("random_projection_tree", "new images", levels=30)
    assert len(model.bounds) == 257  # 349 images with features


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"bounds": np.array([0, 0, 349], dtype=np.int64)},
            "bounds: must ascend from 0 to the number of images, 349",
        ),
        ({"bounds": np.array([0, 349], dtype=np.int64)}, "bounds: must be 2^p + 1 numbers"),
        ({"thresholds": np.zeros(2)}, "thresholds: must be 2^p - 1 numbers"),
        ({"seed": np.zeros(1)}, "seed: must be one number of type uint64"),
    ],
)
def test_a_damaged_tree_is_refused(tmp_path, changes, message):
    model, _ = fitted("random_projection_tree", "new images", levels=1)
    models.save(model, tmp_path / "model.npz")
    write_arrays(tmp_path / "other.npz", **read_arrays(tmp_path / "model.npz") | changes)
    with pytest.raises(UserError) as error:
        models.load(tmp_path / "other.npz")
    assert message in str(error.value)
