"""Label matrices, splits and word vectors check their arrays."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import dense, held_out_of, matrix_of, rows_of
from vsebench.core.errors import UserError
from vsebench.core.schemas import PAIRS
from vsebench.data import problem
from vsebench.data.problem import HeldOut, LabelMatrix, Training, WordVectors, check_places


def array(*numbers, dtype=np.int32):
    return np.array(numbers, dtype=dtype)


def offsets(*numbers):
    return array(*numbers, dtype=np.int64)


@st.composite
def matrices(draw):
    n_rows = draw(st.integers(0, 12))
    rows = [sorted(draw(st.sets(st.integers(0, 7), max_size=8))) for _ in range(n_rows)]
    counts = [draw(st.integers(1, 5)) for row in rows for _ in row]
    return matrix_of(rows, 8, counts)


@given(matrices())
def test_pairs_and_back(matrix):
    pairs = matrix.to_pairs()
    again = LabelMatrix.from_pairs(pairs.sample(fraction=1, shuffle=True, seed=1), matrix.n_rows, 8)
    assert again.to_pairs().equals(pairs)
    assert np.array_equal(again.offsets, matrix.offsets)
    assert matrix.n_pairs == len(pairs)
    assert matrix.n_labels_of_row.tolist() == dense(matrix).sum(axis=1).tolist()


@given(matrices(), st.integers(0, 2**31))
def test_rows_in_any_order_and_slices(matrix, seed):
    rng = np.random.default_rng(seed)
    images = rng.integers(0, matrix.n_rows, 5).astype(np.int32) if matrix.n_rows else array()
    assert rows_of(matrix.rows(images)) == [rows_of(matrix)[image] for image in images]
    start = int(rng.integers(0, matrix.n_rows + 1))
    stop = int(rng.integers(start, matrix.n_rows + 1))
    assert np.array_equal(dense(matrix.slice(start, stop)), dense(matrix)[start:stop])


@given(matrices())
def test_a_sum_adds_counts(matrix):
    twice = matrix + matrix
    assert np.array_equal(twice.label_of_pair, matrix.label_of_pair)
    assert np.array_equal(twice.count_of_pair, 2 * matrix.count_of_pair)


def test_an_empty_matrix():
    matrix = LabelMatrix.empty(3, 4)
    assert (matrix.n_rows, matrix.n_labels, matrix.n_pairs) == (3, 4, 0)
    assert dense(matrix + matrix_of([[0], [], [3]], 4)).sum() == 2


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((offsets(0, 2), array(0), array(1)), "label_of_pair"),
        ((offsets(0, 1), array(0), array(1, 1)), "count_of_pair"),
        ((array(0, 1), array(0), array(1)), "offsets: is int32"),
        ((offsets(0, 1), array(0, dtype=np.int64), array(1)), "label_of_pair: is int64"),
        ((offsets(0, 1, 2), np.arange(4, dtype=np.int32)[::2], array(1, 1)), "label_of_pair: .* contiguous"),
        ((offsets(1, 1), array(0), array(1)), "offsets: must start at 0"),
        ((offsets(0, 2, 1, 3), array(0, 1, 2), array(1, 1, 1)), "never decrease"),
        ((offsets(0, 1), array(3), array(1)), "the labels' numbers must be from 0 to 2"),
        ((offsets(0, 1), array(-1), array(1)), "must be from 0 to"),
        ((offsets(0, 2), array(1, 0), array(1, 1)), "labels of a row must be in ascending order"),
        ((offsets(0, 2), array(1, 1), array(1, 1)), "labels of a row must be in ascending order"),
        ((offsets(0, 0, 2, 2), array(1, 0), array(1, 1)), "labels of a row must be in ascending order"),
        ((offsets(0, 1), array(0), array(0)), "counts must be at least 1"),
    ],
)
def test_a_matrix_that_does_not_fit_together_is_refused(arrays, message):
    with pytest.raises(ValueError, match=message):
        LabelMatrix(3, *arrays)


def test_labels_may_fall_from_one_row_to_the_next():
    assert rows_of(LabelMatrix(3, offsets(0, 1, 1, 3), array(2, 0, 1), array(1, 1, 1))) == [[2], [], [0, 1]]


@pytest.mark.parametrize("images", [array(1, 0), array(0, 0), array(0, 2), array(-1, 0), array(0, dtype=np.int64)])
def test_images_to_learn_from_stand_once_in_order(images):
    with pytest.raises(ValueError, match="images"):
        Training(matrix_of([[0], [1]], 2), images, np.ones(2, dtype=bool))


def test_a_mask_has_one_number_per_label():
    with pytest.raises(ValueError, match="learnt"):
        Training(matrix_of([[0]], 2), array(0), np.ones(3, dtype=bool))
    with pytest.raises(ValueError, match="candidates"):
        HeldOut(array(0), matrix_of([[0]], 2), matrix_of([[]], 2), np.ones(3, dtype=bool))


def test_held_out_labels_have_as_many_rows_as_images():
    with pytest.raises(ValueError, match="the same number of rows"):
        HeldOut(array(0, 1), matrix_of([[0]], 2), matrix_of([[]], 2), np.ones(2, dtype=bool))


def test_a_sample_is_seeded_in_order_and_no_larger_than_asked():
    held_out = held_out_of([[label % 9] for label in range(100)], 10, known=[[9]] * 100, images=range(50, 150))

    def sample(size, seed):
        return held_out.sample(size, np.random.default_rng(seed))

    assert sample(30, 1).images.tolist() == sample(30, 1).images.tolist()
    assert sample(30, 1).images.tolist() != sample(30, 2).images.tolist()
    found = sample(30, 1)
    assert len(set(found.images.tolist())) == 30
    assert (np.diff(found.images) > 0).all()
    assert rows_of(found.right) == [[(image - 50) % 9] for image in found.images]
    assert rows_of(found.known) == [[9]] * 30
    assert sample(100, 1) is held_out


def word_vectors(*rows):
    vectors = np.array(rows, dtype=np.float32)
    return WordVectors(vectors, vectors.any(axis=1))


@pytest.mark.parametrize(
    ("vectors", "known", "message"),
    [
        (np.ones((2, 3)), [1, 1], "word_vectors: vectors: is float64"),
        (np.ones(2, dtype=np.float32), [1, 1], "word_vectors: shape"),
        (np.ones((2, 0), dtype=np.float32), [0, 0], "word_vectors: shape"),
        (np.ones((2, 3), dtype=np.float32), [1], "word_vectors: known: is bool"),
        (np.ones((2, 3), dtype=np.float32), [1, 0], "word_vectors: `known` must be true"),
        (np.zeros((2, 3), dtype=np.float32), [1, 0], "word_vectors: `known` must be true"),
        (np.full((2, 3), np.inf, dtype=np.float32), [1, 1], "word_vectors: a number is not finite"),
    ],
)
def test_words_are_finite_and_zero_exactly_where_they_are_not_known(vectors, known, message):
    with pytest.raises(ValueError, match=message):
        WordVectors(vectors, np.array(known, dtype=bool))


def test_raw_unit_and_centred_words():
    read = word_vectors([3, 4], [0, 0], [0, 2])
    assert read.scaled("raw").tolist() == [[3, 4], [0, 0], [0, 2]]
    assert np.allclose(read.scaled("unit"), [[0.6, 0.8], [0, 0], [0, 1]])
    # The mean of the known unit vectors is (0.3, 0.9), so the differences are +-(0.3, -0.1).
    expected = np.array([[3, -1], [0, 0], [-3, 1]]) / np.sqrt(10)
    assert np.allclose(read.scaled("centred"), expected)
    assert all(read.scaled(scale).dtype == np.float32 for scale in ("raw", "unit", "centred"))


def test_a_word_that_is_the_mean_itself_has_no_direction_when_centred():
    assert not word_vectors([1, 2, 3], [2, 4, 6], [0.1, 0.2, 0.3]).scaled("centred").any()
    assert not word_vectors([0, 0]).scaled("centred").any()


@given(st.integers(0, 2**31))
def test_centred_words_have_length_1_and_do_not_depend_on_the_lengths_of_the_raw_ones(seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(6, 4)).astype(np.float32)
    longer = (vectors * 2.0 ** rng.integers(-9, 9, (6, 1))).astype(np.float32)
    centred = word_vectors(*vectors).scaled("centred")
    assert np.allclose(np.linalg.norm(centred, axis=1), 1, atol=1e-6)
    assert np.allclose(centred, word_vectors(*longer).scaled("centred"), atol=1e-6)


@given(matrices(), st.integers(0, 255))
def test_some_columns_are_counted_anew(matrix, bits):
    chosen = np.array([bool(bits >> label & 1) for label in range(8)])
    found = matrix.columns(chosen)
    assert found.n_labels == chosen.sum()
    assert np.array_equal(dense(found), dense(matrix)[:, chosen])
    assert found.count_of_pair.sum() == matrix.count_of_pair[chosen[matrix.label_of_pair]].sum()


def test_a_matrix_whose_places_do_not_fit_into_int32_is_refused_in_one_line(monkeypatch):
    """Three occurrences, and 16 places of padding for each of two labels and the end: 51."""
    arrays = offsets(0, 1, 2), array(0, 1), array(1, 2)
    monkeypatch.setattr(problem, "LARGEST_PLACE", 51)
    assert LabelMatrix(2, *arrays).n_pairs == 2
    monkeypatch.setattr(problem, "LARGEST_PLACE", 50)
    with pytest.raises(UserError, match="2 images, 2 labels and 3 occurrences of labels need 51 places") as refused:
        LabelMatrix(2, *arrays)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("n_images", "n_labels", "occurrences"), [(2**31, 1, 0), (1, 20_000, 2**31 - 1), (1, 2**27, 1), (1, 1, 2**31)]
)
def test_the_largest_sizes_are_refused_without_arrays_of_these_sizes(n_images, n_labels, occurrences):
    with pytest.raises(UserError, match=r"at most 2,147,483,647 are possible"):
        check_places(n_images, n_labels, occurrences)


def test_counts_are_added_up_in_64_bits():
    """Two counts of 2^30 add up to 2^31, which would be negative in 32 bits."""
    with pytest.raises(UserError, match="2,147,483,648 occurrences"):
        LabelMatrix(2, offsets(0, 2), array(0, 1), array(2**30, 2**30))


@given(matrices())
def test_a_sum_does_not_depend_on_the_rows_that_are_added_up_together(matrix):
    whole = matrix + matrix
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problem, "ROWS_AT_ONCE", 2)
        parts = matrix + matrix
    for name in ("offsets", "label_of_pair", "count_of_pair"):
        assert getattr(whole, name).tobytes() == getattr(parts, name).tobytes()


def test_pairs_in_another_order_are_sorted():
    pairs = pl.DataFrame({"image": [1, 0, 0], "label": [0, 2, 1], "count": [5, 6, 7]}, schema=PAIRS)
    found = LabelMatrix.from_pairs(pairs, 2, 3)
    assert (found.offsets.tolist(), found.label_of_pair.tolist()) == ([0, 2, 3], [1, 2, 0])
    assert found.count_of_pair.tolist() == [7, 6, 5]


def test_pairs_with_the_count_0_are_removed():
    matrix = LabelMatrix(3, offsets(0, 2, 2, 3), array(0, 2, 1), array(1, 4, 2))
    found = matrix.with_counts(array(0, 3, 0))
    assert (found.offsets.tolist(), found.label_of_pair.tolist()) == ([0, 1, 1, 1], [2])
    assert found.count_of_pair.tolist() == [3]
