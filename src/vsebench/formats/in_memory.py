"""Read labels that a user passes in Python, for example in a notebook: a matrix, lists, or a polars or pandas table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from vsebench.core.errors import UserError
from vsebench.data.problem import LabelMatrix

LARGEST_COUNT = np.iinfo(np.int32).max
FORMS = (
    "a matrix of images x labels (scipy sparse or an array), a list of labels per image, or a table with the columns"
    " `image` and `label` or with a column per label"
)


@dataclass(frozen=True)
class GivenLabels:
    """The labels of images, with the ids and names that the caller gave, if any.

    Attributes
    ----------
    matrix : one row per image, one column per label
    images : the id of each image, or None
    in_order : False if the order of the images differs from the order of their first rows in the caller's table
    labels : the name of each label, or None
    """

    matrix: LabelMatrix
    images: list[str] | None = None
    labels: list[str] | None = None
    in_order: bool = True


def labels_of(given: Any, known: Sequence[str] | None = None, can_be_empty: bool = False) -> GivenLabels:
    """Read labels that are given as a matrix, as lists or as a table.

    Parameters
    ----------
    given : one of
        - a scipy sparse matrix or an array, (n_images, n_labels); a positive whole number states how often the image
          has the label
        - a list that contains one list of labels for each image; the result has the labels in the order of their names
        - a polars or pandas table with the columns `image`, `label` and, optionally, `count`; the result has images
          and labels in the order of their names
        - a polars or pandas table of numbers with one row per image and one column per label
    known : names of a fitted model's labels; lists and tables may contain only these labels, and the result has all of
        them, in this order. A table of numbers must have exactly these columns, in this order. None: all names are
        allowed
    can_be_empty : whether all images may be without labels

    Raises
    ------
    UserError
        The labels have none of these forms; a number is negative, not whole or too large; a name is missing or not in
        `known`; or no image has a label and `can_be_empty` is False.
    """
    labels = _read(given, known)
    if not (labels.matrix.n_pairs or can_be_empty):
        raise UserError("matrix: no image has a label; give at least one label (in a matrix, a positive number)")
    return labels


def _read(given: Any, known: Sequence[str] | None) -> GivenLabels:
    if sparse.issparse(given):
        return GivenLabels(matrix_of(given))
    if hasattr(given, "columns") and hasattr(given, "to_numpy"):
        return of_table(given, known)
    if isinstance(given, list | tuple) and all(is_list_of_labels(labels) for labels in given):
        rows = [row for row, labels in enumerate(given) for _ in labels]
        names = [str(label) for labels in given for label in labels]
        return of_pairs(np.array(rows, dtype=np.int64), names, len(given), known, np.ones(len(names)))
    try:
        values = np.asarray(given)
    except ValueError as error:
        raise UserError(f"matrix: not a table of numbers ({error}); give {FORMS}") from None
    if values.ndim != 2 or values.dtype.kind not in "buif":
        actual = f"{type(given).__name__} of shape {values.shape} and type {values.dtype}"
        raise UserError(f"matrix: must be numbers in two dimensions, but is {actual}; give {FORMS}")
    return GivenLabels(matrix_of(sparse.csr_array(values)))


def is_list_of_labels(labels: Any) -> bool:
    """Return whether a value is a list, tuple or set that is empty or contains only strings."""
    return isinstance(labels, list | tuple | set | frozenset) and all(isinstance(label, str) for label in labels)


def of_table(table: Any, known: Sequence[str] | None) -> GivenLabels:
    """Return the labels in a polars or pandas table."""
    columns = [str(name) for name in table.columns]
    if {"image", "label"} <= set(columns):
        ids, labels = (column_of(table, name) for name in ("image", "label"))
        images, first, rows = np.unique(np.array(ids, dtype=np.str_), return_index=True, return_inverse=True)
        counts = table["count"].to_numpy() if "count" in columns else np.ones(len(labels))
        if counts.dtype.kind not in "uif" or not (counts >= 1).all():
            raise UserError("matrix: the column `count` must contain only positive whole numbers")
        given = of_pairs(rows, labels, len(images), known, counts)
        return replace(given, images=images.tolist(), in_order=bool((np.diff(first) > 0).all()))
    if known is not None and columns != list(known):
        raise UserError(f"labels: the table's columns must be the model's {len(known)} labels, in the same order")
    values = table.to_numpy()
    if values.dtype.kind not in "buif":
        wanted = "a table without the columns `image` and `label` must contain only numbers"
        raise UserError(f"matrix: {wanted}; give {FORMS}")
    return GivenLabels(matrix_of(sparse.csr_array(values)), None, columns)


def column_of(table: Any, name: str) -> list[str]:
    """Return a column as strings; a missing value raises a `UserError`."""
    values = table[name].to_list()
    for row, value in enumerate(values):
        if value is None or value != value:
            raise UserError(f"matrix: row {row + 1} of the table: the {name} is missing")
    return [str(value) for value in values]


def of_pairs(
    rows: Any, names: list[str], n_images: int, known: Sequence[str] | None, counts: NDArray[Any]
) -> GivenLabels:
    """Return the labels of images that are given as (image, label) pairs.

    Pair i consists of the image number `rows[i]` and the label name `names[i]`. `counts[i]` is how often the image has
    the label.
    """
    labels = sorted(set(names)) if known is None else list(known)
    column = {name: n for n, name in enumerate(labels)}
    unknown = sorted(set(names) - column.keys())
    if unknown:
        number = f"number of unknown labels: {len(unknown)}"
        raise UserError(f"labels: the model has no label {unknown[0]!r} ({number}); give only labels of the model")
    columns = np.array([column[name] for name in names], dtype=np.int64)
    pairs = sparse.coo_array((counts.astype(np.float64), (rows, columns)), shape=(n_images, len(labels)))
    return GivenLabels(matrix_of(pairs), None, labels)


def matrix_of(matrix: Any) -> LabelMatrix:
    """Return the labels in a scipy sparse matrix of counts, (n_images, n_labels)."""
    if matrix.ndim != 2 or matrix.shape[0] == 0 or matrix.shape[1] == 0:
        raise UserError(f"matrix: shape {matrix.shape}; give one row per image and one column per label")
    if matrix.dtype.kind not in "buif":
        raise UserError(f"matrix: has the type {matrix.dtype}; give numbers")
    rows = sparse.csr_array(matrix.astype(np.float64), copy=True)
    if not np.isfinite(rows.data).all():
        raise UserError("matrix: a number is not finite; use whole numbers >= 0")
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if (rows.data < 0).any() or (rows.data != np.floor(rows.data)).any() or (rows.data > LARGEST_COUNT).any():
        found = f"numbers from {rows.data.min():g} to {rows.data.max():g}"
        raise UserError(f"matrix: {found}; all must be whole numbers from 0 to {LARGEST_COUNT}")
    if rows.data.sum() > LARGEST_COUNT:
        raise UserError(f"matrix: the counts add up to {rows.data.sum():g}; at most {LARGEST_COUNT} are possible")
    return LabelMatrix(
        int(rows.shape[1]), rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.int32)
    )
