"""Labels that are given in a notebook: every form of the same labels is the same matrix."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from vsebench.core.errors import UserError
from vsebench.formats.in_memory import labels_of

IMAGES = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=8).filter(any)


def counts(matrix, n_labels):
    """Return a matrix of labels as a dense array."""
    return sparse.csr_array(
        (matrix.count_of_pair, matrix.label_of_pair, matrix.offsets), shape=(matrix.n_rows, n_labels)
    ).toarray()


@given(IMAGES)
def test_lists_matrices_and_tables_of_the_same_labels_are_equal(images):
    of_lists = labels_of(images)
    names = sorted({label for labels in images for label in labels})
    expected = np.array([[labels.count(name) for name in names] for labels in images])
    assert (of_lists.labels, of_lists.images) == (names, None)
    columns = dict(zip(names, expected.T.tolist(), strict=True))
    wide, of_pandas = pl.DataFrame(columns), pd.DataFrame(columns)
    for form in (expected, expected.tolist(), sparse.coo_array(expected), wide, of_pandas):
        np.testing.assert_array_equal(counts(labels_of(form).matrix, len(names)), expected)
    assert labels_of(wide).labels == labels_of(of_pandas).labels == names
    np.testing.assert_array_equal(counts(of_lists.matrix, len(names)), expected)


@given(IMAGES)
def test_a_table_of_pairs_sorts_images_and_labels_by_name(images):
    pairs = [(f"photo {n}", label) for n, labels in enumerate(images) for label in labels]
    table = pl.DataFrame(pairs[::-1], schema=["image", "label"], orient="row")
    kept = [labels for labels in images if labels]
    for form in (table, pd.DataFrame(pairs, columns=["image", "label"])):
        named = labels_of(form)
        assert named.images == sorted({image for image, _ in pairs})
        np.testing.assert_array_equal(
            counts(named.matrix, len(named.labels)), counts(labels_of(kept).matrix, len(named.labels))
        )


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
def test_a_table_can_have_counts_and_another_order_of_images(kind):
    columns = {"image": ["b", "b", "a"], "label": ["x", "y", "x"], "count": [3, 1, 2]}
    named = labels_of(kind(columns))
    assert counts(named.matrix, 2).tolist() == [[2, 0], [3, 1]]
    assert not named.in_order
    assert labels_of(kind(columns | {"image": ["a", "a", "b"]})).in_order


def test_labels_of_new_images_use_the_known_names():
    named = labels_of([["b"], [], ["a", "b"]], ["a", "b", "c"], can_be_empty=True)
    assert counts(named.matrix, 3).tolist() == [[0, 1, 0], [0, 0, 0], [1, 1, 0]]


@pytest.mark.parametrize(
    ("form", "known", "message"),
    [
        ([["a"], ["z"]], ["a"], "labels: the model has no label 'z' (number of unknown labels: 1)"),
        (pl.DataFrame({"a": [1], "b": [0]}), ["b", "a"], "labels: the table's columns must be the model's 2 labels"),
        (pl.DataFrame({"image": ["i", None], "label": ["a", "b"]}), None, "row 2 of the table: the image is missing"),
        (pd.DataFrame({"image": ["i"], "label": [np.nan]}), None, "row 1 of the table: the label is missing"),
        (
            pl.DataFrame({"photo": ["i"], "tag": ["a"]}),
            None,
            "a table without the columns `image` and `label` must contain",
        ),
        (
            pl.DataFrame({"image": ["i"], "label": ["a"], "count": [0]}),
            None,
            "the column `count` must contain only positive whole numbers",
        ),
        (
            pl.DataFrame({"image": ["i"], "label": ["a"], "count": ["two"]}),
            None,
            "the column `count` must contain only positive whole numbers",
        ),
        ([[1, 5], [3]], None, "matrix: not a table of numbers"),
        (["a", "b"], None, "but is list of shape (2,) and type <U1; give a matrix of images x labels"),
        (np.zeros(3), None, "but is ndarray of shape (3,) and type float64; give a matrix"),
        (np.zeros((2, 2)), None, "matrix: no image has a label"),
        ([[], []], None, "matrix: shape (2, 0)"),
        (np.full((2, 2), 2**30), None, "matrix: the counts add up to 4.29497e+09; at most 2147483647 are possible"),
        (np.array([[0.5]]), None, "matrix: numbers from 0.5 to 0.5; all must be whole numbers from 0"),
        (np.array([[np.inf]]), None, "matrix: a number is not finite"),
        ({"a": 1}, None, "matrix: must be numbers in two dimensions, but is dict of shape () and type object"),
    ],
)
def test_a_wrong_form_is_one_line(form, known, message):
    with pytest.raises(UserError, match=re.escape(message)):
        labels_of(form, known)
