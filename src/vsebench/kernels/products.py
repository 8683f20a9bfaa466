"""Inner products of embeddings, from which scores are computed."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.vectors import FASTMATH, LANES, add_products, add_up, broadcast, load, zero_sums


class Embedding(NamedTuple):
    """The vectors of a model's images and labels, which the kernels update in place.

    The score of label c for image i is <v_i, v_c>. K is the number of factors, rounded up to a multiple of 16 (see
    `padded_size`). The padding is always 0.

    Attributes
    ----------
    images : (n_images, K) float32, v_i
    labels : (n_labels, K) float32, v_c
    """

    images: NDArray[np.float32]
    labels: NDArray[np.float32]


@njit(cache=True, fastmath=FASTMATH, inline="always")
def dot(a, i, b, j):
    """Return the inner product of row i of `a` and row j of `b`, float32.

    a, b : (n, K) and (m, K) float32; K is a multiple of 16
    """
    products = broadcast(np.float32(0))
    for f in range(0, a.shape[1], LANES):
        products = products + load(a, (i, f)) * load(b, (j, f))
    return add_up(products)


@njit(cache=True, fastmath=FASTMATH, inline="always")
def margin(embedding, i, p, n):
    """Return the score of label p minus the score of label n for image i, float32: <v_i, v_p - v_n>."""
    images, labels = embedding
    products = broadcast(np.float32(0))
    for f in range(0, images.shape[1], LANES):
        products = products + load(images, (i, f)) * (load(labels, (p, f)) - load(labels, (n, f)))
    return add_up(products)


@njit(cache=True, inline="always")
def rounded_products(vectors, rows, pairs, groups):
    """Return the inner products of each chosen row with 16 labels.

    vectors : (n, K) int16, rounded vectors (`vsebench.kernels.ranking.rounding`)
    rows : tuple of integers, the numbers of the chosen rows of `vectors`
    pairs : (n_groups, K / 2, 32) int16, the `pairs` of a `RoundedLabels`
    groups : tuple of integers, as long as `rows`: for each row, the group of 16 labels by which it is multiplied

    Returns a tuple that contains one `IntVector` for each chosen row.

    Four to six rows at a time keep a processor busy: each addition to a sum must wait for the previous one, but
    additions to different sums need not.
    """
    sums = zero_sums(rows)
    for pair in range(pairs.shape[1]):
        sums = add_products(sums, vectors, rows, pairs, groups, pair)
    return sums
