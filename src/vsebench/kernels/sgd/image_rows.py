"""Rows of image features, dense or sparse, and the operations on a row that a step needs: products and sums.

In `sum_of_rows` and `add_to_rows`, one loop serves both formats. The loop visits the stored numbers of a row: all
numbers of a dense row, the non-zeros of a sparse row. The formats differ only in how this loop finds the column of a
number. In a dense row, the column is the number's position.

The weights of a model with one weight vector per label are stored in the order that suits the format (`new_weights`).
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.vectors import (
    FASTMATH,
    LANES,
    NO_ALLOCATION,
    add_up,
    aligned,
    broadcast,
    load,
    padded_size,
    store,
)


class ImageRows(NamedTuple):
    """The features of images in the kernels' format, one row per image.

    Dense rows are padded with zeros to the length `padded_size(n_features)`. If a matrix with one row or column per
    feature is used with dense rows, that dimension is padded to the same length. No step changes this padding.

    Attributes
    ----------
    offsets : (n + 1,) int64; the numbers of row i are values[offsets[i]:offsets[i + 1]]
    columns : (n_numbers,) int32, the feature of each number in sparse rows, ascending within each row; empty for dense
        rows
    values : (n_numbers,) float32, the numbers of all rows, one row after the other
    squares : (n,) float32, the squared norm of each row
    """

    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]
    squares: NDArray[np.float32]


def new_image_rows(rows: Any, constant: bool = False) -> ImageRows:
    """Return rows of features in the kernels' format; the numbers are copied.

    rows : (n, d) float32, a NumPy array or CSR (an object with `data`, `indices` and `indptr`)
    constant : whether to add a feature, number d, that is 1 for every image
    """
    n, d = rows.shape
    if hasattr(rows, "indptr"):
        ends = rows.indptr[1:]
        values, columns = rows.data.astype(np.float32), rows.indices.astype(np.int32)
        if constant:
            values, columns = np.insert(values, ends, np.float32(1)), np.insert(columns, ends, np.int32(d))
        offsets = rows.indptr.astype(np.int64) + constant * np.arange(n + 1)
        row_of_number = np.repeat(np.arange(n), np.diff(offsets))
        squares = np.bincount(row_of_number, values.astype(np.float64) ** 2, minlength=n)
        return ImageRows(offsets, columns, values, squares.astype(np.float32))
    dense = aligned(n, padded_size(d + constant))
    dense[:, :d] = rows
    if constant:
        dense[:, d] = 1
    squares = np.einsum("nd,nd->n", dense, dense, dtype=np.float64).astype(np.float32)
    offsets = np.arange(n + 1, dtype=np.int64) * dense.shape[1]
    return ImageRows(offsets, np.empty(0, dtype=np.int32), dense.reshape(-1), squares)


@njit(cache=True, forceinline=True, **NO_ALLOCATION)
def column(rows, i, e):
    """Return the feature to which the number `rows.values[e]`, in row i, belongs."""
    return np.int64(rows.columns[e]) if len(rows.columns) > 0 else e - rows.offsets[i]


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def clear(total):
    """Set every element of total, (1, K) float32, to 0."""
    for f in range(total.shape[1]):
        total[0, f] = 0


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def add_four_rows(rows, i, e, matrix, total):
    """Multiply four rows of a matrix by four numbers of image i, and add the products to `total`.

    The numbers are rows.values[e] to rows.values[e + 3]. Each number is multiplied by the matrix row of its feature.

    matrix : (d, K) float32, one row per feature
    total : (1, K) float32, updated
    """
    w, x, y, z = rows.values[e], rows.values[e + 1], rows.values[e + 2], rows.values[e + 3]
    a, b, c, d = column(rows, i, e), column(rows, i, e + 1), column(rows, i, e + 2), column(rows, i, e + 3)
    for f in range(0, matrix.shape[1], LANES):
        first = w * load(matrix, (a, f)) + x * load(matrix, (b, f))
        second = y * load(matrix, (c, f)) + z * load(matrix, (d, f))
        store(total, (0, f), load(total, (0, f)) + (first + second))


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def sum_of_rows(rows, i, matrix, total):
    """Write the product of the features of image i and a matrix to `total`.

    The product is the sum, over the features j, of x_ij times row j of the matrix. Here x_ij is the value of feature j.

    matrix : (d, K) float32, one row per feature
    total : (1, K) float32, overwritten

    Four rows of the matrix are added at a time, each from its start to its end, because processors prefetch memory in
    that order.
    """
    start, stop = rows.offsets[i], rows.offsets[i + 1]
    stop_of_fours = stop - (stop - start) % 4
    clear(total)
    for e in range(start, stop_of_fours, 4):
        add_four_rows(rows, i, e, matrix, total)
    for e in range(stop_of_fours, stop):
        j = column(rows, i, e)
        for f in range(0, matrix.shape[1], LANES):
            store(total, (0, f), load(total, (0, f)) + rows.values[e] * load(matrix, (j, f)))


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def add_to_rows(rows, i, matrix, direction):
    """Add x_ij times a direction to row j of a matrix, for every feature j of image i.

    Here x_ij is the value of feature j.

    matrix : (d, K) float32, updated
    direction : (1, K) float32
    """
    for e in range(rows.offsets[i], rows.offsets[i + 1]):
        j = column(rows, i, e)
        for f in range(0, matrix.shape[1], LANES):
            store(matrix, (j, f), load(matrix, (j, f)) + rows.values[e] * load(direction, (0, f)))


def new_weights(rows: ImageRows, n_features: int, n_labels: int) -> NDArray[np.float32]:
    """Return weights of 0, float32, with one vector per label, for `score` and `add_row`.

    With dense rows, the array has a row per label, so that the product of two vectors reads memory in order. With
    sparse rows, it has a row per feature, so that `sum_of_rows` gives an image's scores of all labels at once. Each row
    of the array is padded to a multiple of LANES (`padded_size`).
    """
    if len(rows.columns) == 0:
        return aligned(n_labels, padded_size(n_features))
    return aligned(n_features, padded_size(n_labels))


def by_label(rows: ImageRows, weights: NDArray[np.float32], n_features: int, n_labels: int) -> NDArray[np.float32]:
    """Return the weights from `new_weights` as a matrix (n_labels, n_features), without the padding."""
    return weights[:n_labels, :n_features] if len(rows.columns) == 0 else weights[:n_features, :n_labels].T


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def score(rows, i, weights, c):
    """Return the score of label c for image i, float32.

    The score is the inner product of the image's features and the label's vector in `weights`, from `new_weights`.
    """
    start, stop = rows.offsets[i], rows.offsets[i + 1]
    if len(rows.columns) == 0:  # dense; the length of a row is a multiple of LANES
        stop_of_fours = stop - (stop - start) % (4 * LANES)
        p = q = r = s = broadcast(np.float32(0))
        for e in range(start, stop_of_fours, 4 * LANES):
            j = e - start
            p = p + load(rows.values, e) * load(weights, (c, j))
            q = q + load(rows.values, e + LANES) * load(weights, (c, j + LANES))
            r = r + load(rows.values, e + 2 * LANES) * load(weights, (c, j + 2 * LANES))
            s = s + load(rows.values, e + 3 * LANES) * load(weights, (c, j + 3 * LANES))
        for e in range(stop_of_fours, stop, LANES):
            p = p + load(rows.values, e) * load(weights, (c, e - start))
        return add_up((p + q) + (r + s))
    total = np.float32(0)
    for e in range(start, stop):
        total += rows.values[e] * weights[rows.columns[e], c]
    return total


@njit(cache=True, fastmath=FASTMATH, forceinline=True, **NO_ALLOCATION)
def add_row(rows, i, weights, c, size):
    """Add the features of image i, times `size`, to the vector of label c.

    weights : float32, from `new_weights`, updated
    size : float32
    """
    start, stop = rows.offsets[i], rows.offsets[i + 1]
    if len(rows.columns) == 0:
        for e in range(start, stop, LANES):
            store(weights, (c, e - start), load(weights, (c, e - start)) + size * load(rows.values, e))
    else:
        for e in range(start, stop):
            weights[rows.columns[e], c] += size * rows.values[e]
