"""Features and their normalisation, compared with scikit-learn's."""

import re
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler, normalize

from vsebench.config.dataset import NormalisationStep
from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, write_arrays
from vsebench.data.features import (
    Block,
    Features,
    Normalisation,
    Step,
    csr,
    read_features,
    side_by_side,
    write_features,
)

COUNTS = np.array([[3, 0, 1, 0], [0, 0, 0, 0], [1, 2, 0, 4], [0, 5, 0, 1], [2, 0, 0, 0]], dtype=np.float32)


def dense(values, known=None):
    values = np.ascontiguousarray(values)
    return Features(values, np.ones(len(values), dtype=bool) if known is None else np.array(known))


def as_csr(values):
    matrix = sparse.csr_array(values)
    return csr(matrix.data, matrix.indices, matrix.indptr, matrix.shape)


def both(values):
    known = np.ones(len(values), dtype=bool)
    return {"dense": Features(values, known), "sparse": Features(as_csr(values), known)}


def plain(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_features_that_were_written_are_read(tmp_path, kind):
    features = both(COUNTS)[kind]
    path = tmp_path / features.file_name
    write_features(features, path)
    again = read_features(path, features.known)
    assert (again.n_images, again.dimensions, again.is_sparse) == (5, 4, kind == "sparse")
    rows = again.rows(np.array([2, 0, 2]))
    assert rows.dtype == np.float32
    assert np.array_equal(plain(rows), COUNTS[[2, 0, 2]])


def test_dense_features_stay_in_their_file(tmp_path):
    features = dense(COUNTS.astype(np.float16))
    write_features(features, tmp_path / "features.npy")
    again = read_features(tmp_path / "features.npy", features.known)
    assert isinstance(again.values, np.memmap)
    assert again.values.dtype == np.float16
    rows = again.rows(np.array([3]))
    assert (type(rows), rows.dtype) == (np.ndarray, np.float32)


def test_offsets_are_wide_in_the_file_and_narrow_in_memory(tmp_path):
    features = both(COUNTS)["sparse"]
    write_features(features, tmp_path / "features.npz")
    stored = read_arrays(tmp_path / "features.npz")
    assert {name: array.dtype.name for name, array in stored.items()} == {
        "data": "float32",
        "indices": "int32",
        "offsets": "int64",
        "shape": "int64",
    }
    values = read_features(tmp_path / "features.npz", features.known).values
    assert values.indices.dtype == values.indptr.dtype == np.int32


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_taking_images_takes_rows_and_marks(kind):
    features = both(COUNTS)[kind]
    marked = Features(features.values, np.array([True, False, True, True, True]))
    taken = marked.take(np.array([1, 4]))
    assert taken.known.tolist() == [False, True]
    assert np.array_equal(plain(taken.rows(np.arange(2))), COUNTS[[1, 4]])


YES = np.ones(2, dtype=bool)
WRONG = {
    "one dimension": (np.zeros(2, np.float32), YES, "features have shape (2,)"),
    "no columns": (np.zeros((2, 0), np.float32), YES, "features have shape (2, 0)"),
    "other number of images": (np.zeros((3, 1), np.float32), YES, "3 rows of features, but 2 images"),
    "float64": (np.zeros((2, 1)), YES, "features are float64, not float16 or float32"),
    "sparse float64": (sparse.csr_array(np.ones((2, 1))), YES, "features are float64, not float32"),
    "by columns": (np.asfortranarray(np.zeros((2, 2), np.float32)), YES, "not stored row by row"),
    "NaN": (np.array([[1], [np.nan]], np.float32), YES, "row 2: contains a number that is not finite"),
    "infinite": (np.array([[1], [np.inf]], np.float16), YES, "row 2: contains a number that is not finite"),
    "sparse NaN": (
        as_csr(np.array([[0, 1], [np.nan, 0]], np.float32)),
        YES,
        "row 2: contains a number that is not finite",
    ),
    "unsorted": (
        csr(np.ones(3, np.float32), np.array([0, 2, 1]), np.array([0, 1, 3]), (2, 3)),
        YES,
        "row 2: column numbers",
    ),
    "twice": (
        csr(np.ones(3, np.float32), np.array([1, 1, 0]), np.array([0, 2, 3]), (2, 3)),
        YES,
        "row 1: column numbers",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_features_are_refused_in_one_line(what):
    values, known, message = WRONG[what]
    with pytest.raises(UserError, match=f"^my.npy: .*{re.escape(message)}"):
        Features(values, known, where="my.npy")


def test_columns_may_descend_from_row_to_row_and_rows_be_empty():
    values = csr(np.ones(2, np.float32), np.array([2, 0]), np.array([0, 0, 1, 1, 2, 2]), (5, 3))
    assert Features(values, np.ones(5, dtype=bool)).rows(np.array([1, 4])).toarray().tolist() == [[0, 0, 1], [0, 0, 0]]


DAMAGED = {
    "features.npy": (b"", b"no array", b"\x93NUMPY\x01\x00"),
    "features.npz": (b"", b"PK\x03\x04 and no more"),
}


@pytest.mark.parametrize(("name", "content"), [(name, data) for name in DAMAGED for data in DAMAGED[name]])
def test_a_damaged_file_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=f"{name}: (not a readable|has no checksum)"):
        read_features(tmp_path / name, YES)
    with pytest.raises(UserError, match="no such file"):
        read_features(tmp_path / "other" / name, YES)


def test_arrays_that_are_no_sparse_features(tmp_path):
    path = tmp_path / "features.npz"
    whole = {"data": np.ones(1, np.float32), "indices": np.zeros(1, int), "offsets": np.array([0, 1, 1])}
    for arrays_ in (whole, {**whole, "shape": np.array([2])}, {**whole, "shape": np.array([9, 1])}):
        write_arrays(path, **arrays_)
        with pytest.raises(UserError, match="not a file of sparse features"):
            read_features(path, YES)
    write_arrays(path, **{**whole, "indices": np.array([7]), "shape": np.array([2, 1])})
    with pytest.raises(UserError, match="out of range"):
        read_features(path, YES)


# Normalisation


def test_configuration_and_normalisation_know_the_same_steps():
    assert get_args(NormalisationStep) == get_args(Step)


matrices = arrays(np.float32, st.tuples(st.integers(1, 9), st.integers(1, 6)), elements=st.integers(0, 50))


def fit(steps, features, images=None):
    return Normalisation.fit(steps, features, np.arange(features.n_images) if images is None else images)


def test_standard_is_that_of_scikit_learn():
    values = np.random.default_rng(0).normal([5, -3, 0], [2, 0.1, 1], (200, 3)).astype(np.float32)
    found = fit(["standard"], dense(values)).apply(values)
    assert found.dtype == np.float32
    assert np.allclose(found, StandardScaler().fit_transform(values.astype(np.float64)), atol=1e-5)


def test_a_column_that_hardly_varies_is_only_centred():
    values = np.array([[7, 1e-7], [7, 3e-7]], dtype=np.float32)
    assert np.allclose(fit(["standard"], dense(values)).apply(values), [[0, -1e-7], [0, 1e-7]], atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@given(values=matrices)
def test_idf_is_that_of_scikit_learn_without_its_added_one(kind, values):
    features = both(values)[kind]
    normalisation = fit(["idf"], features)
    weight = TfidfTransformer(smooth_idf=True).fit(sparse.csr_matrix(values)).idf_ - 1
    assert np.allclose(normalisation.learnt[0]["weight"], weight, atol=1e-6)
    assert np.allclose(
        plain(normalisation.apply(features.rows(np.arange(len(values))))), values * weight, rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@given(values=matrices)
def test_l2_and_root_are_those_of_scikit_learn(kind, values):
    features = both(values)[kind]
    rows = features.rows(np.arange(len(values)))
    wide = values.astype(np.float64)
    assert np.allclose(plain(fit(["l2"], features).apply(rows)), normalize(wide), atol=1e-6)
    assert np.allclose(plain(fit(["root"], features).apply(rows)), np.sqrt(normalize(wide, norm="l1")), atol=1e-6)
    assert np.array_equal(plain(rows), values)  # not changed


def test_large_numbers_have_a_length():
    values = np.array([[3e30, 4e30]], dtype=np.float32)
    assert np.allclose(fit(["l2"], dense(values)).apply(values), [[0.6, 0.8]])


def test_steps_follow_each_other():
    found = fit(["root", "standard"], dense(COUNTS)).apply(COUNTS)
    roots = np.sqrt(normalize(COUNTS.astype(np.float64), norm="l1"))
    assert np.allclose(found, StandardScaler().fit_transform(roots), atol=1e-5)
    swapped = fit(["idf", "l2"], both(COUNTS)["sparse"])
    weight = np.log(6 / (1 + (COUNTS != 0).sum(axis=0)))
    assert np.allclose(swapped.apply(as_csr(COUNTS)).toarray(), normalize(COUNTS * weight), atol=1e-6)


def test_only_images_of_the_fit_that_have_features_count():
    features = dense(np.array([[1], [3], [0], [100]], np.float32), known=[True, True, False, True])
    normalisation = Normalisation.fit(["standard"], features, np.array([0, 1, 2]))
    assert normalisation.apply(np.array([[2.0]], np.float32)).tolist() == [[0.0]]
    assert normalisation.learnt[0]["deviation"].tolist() == [1.0]
    with pytest.raises(UserError, match="no training image has features; remove the steps, or give features"):
        Normalisation.fit(["standard"], features, np.array([2]))


def test_half_precision_becomes_single_first():
    values = np.array([[60000, 1], [60000, 3]], dtype=np.float16)
    for steps in ([], ["l2"], ["root"], ["standard"]):
        found = fit(steps, dense(values)).apply(values)
        assert found.dtype == np.float32
        assert np.isfinite(found).all()


REFUSED = {
    "standard, sparse": (["l2", "standard"], as_csr(COUNTS), "'standard' would make sparse features dense"),
    "root, negative": (["root", "standard"], -COUNTS, "'root' takes square roots"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_normalised_is_refused(what):
    steps, values, message = REFUSED[what]
    with pytest.raises(UserError, match=message):
        fit(steps, Features(values, np.ones(5, dtype=bool)))


def test_rows_of_another_length_are_refused():
    normalisation = fit(["standard"], dense(COUNTS))
    with pytest.raises(UserError, match="features of 3 numbers per image, but 'standard' was fitted to 4"):
        normalisation.apply(COUNTS[:, :3])


@pytest.mark.parametrize("steps", [[], ["l2"], ["root", "standard"], ["idf", "l2"], ["standard", "l2"]])
def test_a_saved_normalisation_is_the_same(tmp_path, steps):
    normalisation = fit(steps, dense(COUNTS))
    write_arrays(tmp_path / "model.npz", vectors=COUNTS, **normalisation.arrays())
    again = Normalisation.from_arrays(read_arrays(tmp_path / "model.npz"), "model.npz")
    assert again.steps == tuple(steps)
    assert np.array_equal(again.apply(COUNTS), normalisation.apply(COUNTS))


SPOILT = {
    "no steps": ("normalise.steps", None, "the only steps are l2, idf, standard, root"),
    "unknown step": ("normalise.steps", np.array(["whiten"]), "the only steps are l2, idf, standard, root"),
    "no mean": ("normalise.1.mean", None, "normalise.1.mean: missing"),
    "float64": (
        "normalise.1.mean",
        np.zeros(4),
        "normalise.1.mean: missing, or not a vector of finite float32 numbers",
    ),
    "infinite": ("normalise.1.mean", np.full(4, np.inf, np.float32), "normalise.1.mean"),
    "another length": ("normalise.1.deviation", np.ones(3, np.float32), "differ in length"),
}


@pytest.mark.parametrize("what", SPOILT)
def test_a_spoilt_normalisation_is_refused(what):
    name, value, message = SPOILT[what]
    saved = {**fit(["root", "standard"], dense(COUNTS)).arrays(), name: value}
    saved = {key: array for key, array in saved.items() if array is not None}
    with pytest.raises(UserError, match=f"^model.npz: .*{re.escape(message)}"):
        Normalisation.from_arrays(saved, "model.npz")


# Sets of features side by side.

STEPS = st.lists(st.sampled_from(["root", "idf", "standard", "l2"]), max_size=3, unique=True)
TABLES = arrays(np.float32, (5, 3), elements=st.integers(0, 9).map(float))


@given(TABLES, TABLES, st.fixed_dictionaries({"a": STEPS, "b": STEPS}), st.sampled_from(["dense", "sparse"]))
def test_each_set_is_normalised_as_if_it_were_alone(first, second, steps, kind):
    if kind == "sparse":
        steps = {name: [step for step in of_set if step != "standard"] for name, of_set in steps.items()}
    if any("root" in of_set[1:] for of_set in steps.values()):  # of numbers that may be negative by now
        return
    parts, images = {"a": both(first)[kind], "b": both(second)[kind]}, np.array([0, 2, 3])
    together = side_by_side(parts)
    assert together.blocks == (Block("a", 0, 3), Block("b", 3, 6))
    found = Normalisation.fit(steps, together, images)
    alone = [
        Normalisation.fit(steps[name], part, images).apply(part.rows(np.arange(5))) for name, part in parts.items()
    ]
    rows = together.rows(np.arange(5))
    assert np.array_equal(plain(found.apply(rows)), np.hstack([plain(part) for part in alone]))
    again = Normalisation.from_arrays(found.arrays(), "model.npz")
    assert np.array_equal(plain(again.apply(rows)), plain(found.apply(rows)))
    assert (again.named, again.sets, again.steps) == (found.named, found.sets, found.steps)
    assert np.array_equal(plain(rows), np.hstack([first, second]))  # they are unchanged


@given(TABLES, STEPS.filter(lambda steps: "root" not in steps[1:]), st.booleans())
def test_the_only_set_that_is_seen_gives_the_same_numbers_with_and_without_a_name(table, steps, unit_length):
    plainly, named = dense(table), side_by_side({"a": dense(table)})
    images, rows = np.arange(4), plainly.rows(np.arange(5))
    found = [Normalisation.fit(steps, features, images, unit_length).apply(rows) for features in (plainly, named)]
    assert found[0].tobytes() == found[1].tobytes()


def test_a_list_of_steps_is_for_every_set_and_whole_rows_get_unit_length_afterwards():
    together = side_by_side({"a": dense(np.array([[3, 4]], np.float32)), "b": dense(np.array([[5]], np.float32))})
    rows, images = together.rows(np.array([0])), np.array([0])
    assert Normalisation.fit(["l2"], together, images).apply(rows).tolist() == [pytest.approx([0.6, 0.8, 1])]
    of_length_1 = Normalisation.fit(["l2"], together, images, unit_length=True).apply(rows)
    assert of_length_1.tolist() == [pytest.approx(list(np.array([0.6, 0.8, 1]) / np.sqrt(2)))]
    assert Normalisation.fit({"b": ["l2"]}, together, images).apply(rows).tolist() == [[3, 4, 1]]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_an_image_has_features_if_it_has_those_of_every_set(kind):
    known = np.array([True, True, False, True, True])
    part = both(COUNTS * known[:, np.newaxis])[kind]
    together = side_by_side({"a": both(COUNTS)[kind], "b": Features(part.values, known)})
    assert together.known.tolist() == known.tolist()
    assert np.array_equal(plain(together.rows(np.arange(5))), np.hstack([COUNTS, COUNTS]) * known[:, np.newaxis])


def test_dense_and_sparse_sets_are_not_put_side_by_side():
    with pytest.raises(UserError, match="all dense or all sparse, but a is dense, b is sparse; name sets of one kind"):
        side_by_side({"a": both(COUNTS)["dense"], "b": both(COUNTS)["sparse"]})


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({"c": ["l2"]}, "there are no features named 'c'; the names are a, b"),
        ({"a": ["standard"]}, "sparse features dense"),
    ],
)
def test_steps_of_sets_that_do_not_fit_are_refused(steps, message):
    together = side_by_side({"a": both(COUNTS)["sparse"], "b": both(COUNTS)["sparse"]})
    with pytest.raises(UserError, match=message):
        Normalisation.fit(steps, together, np.arange(5))
    with pytest.raises(UserError, match="the only set has no name; give one list"):
        Normalisation.fit({"a": ["l2"]}, dense(COUNTS), np.arange(5))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offsets": np.array([0, 4], dtype=np.int64)}, "do not fit normalise.named"),
        ({"offsets": np.array([0, 4, 4], dtype=np.int64)}, "do not fit normalise.named"),
        ({"offsets": np.array([0.0, 4.0, 8.0])}, "do not fit normalise.named"),
        ({"sets": np.array([0, 2], dtype=np.int64)}, "but there are only 2 sets of features"),
        ({"sets": np.array([0], dtype=np.int64)}, "do not fit normalise.named"),
    ],
)
def test_damaged_sets_in_a_model_are_refused(changes, message):
    together = side_by_side({"a": dense(COUNTS), "b": dense(COUNTS)})
    saved = Normalisation.fit(["standard"], together, np.arange(5)).arrays()
    with pytest.raises(UserError, match=message):
        Normalisation.from_arrays(saved | {f"normalise.{name}": array for name, array in changes.items()}, "model.npz")


def test_features_of_another_width_are_refused():
    together = side_by_side({"a": dense(COUNTS), "b": dense(COUNTS)})
    message = "features of 4 numbers per image, but the model was fitted to 4 of the set a, 4 of the set b"
    with pytest.raises(UserError, match=message):
        Normalisation.fit(["l2"], together, np.arange(5)).apply(COUNTS)
