"""Ranks by counting: how many candidates score above a held-out label, and how many the same.

The score of embeddings is an inner product, and most comparisons with a held-out label's score do not need its last
digits. `count_embedded` therefore multiplies vectors that are rounded to whole numbers, u = r (x + x') with
r = |u| / NORM and no |x'_k| above 1/2: processors multiply and add two pairs of these in the time of one of float32.
With v = s (y + y') it follows (Cauchy and Schwarz) that

    |<u, v> / (r s) - <x, y>| <= NORM K^(1/2) + K / 4.

Only where the held-out label's score is that close (one of a thousand comparisons or fewer) the score is computed in
float32. The counts are those of all scores in float32.
"""

import platform
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.lanes import (
    LANES,
    MATH,
    above,
    add_products,
    aligned,
    filled_up,
    load,
    no_sums,
    numbers,
    scratch,
    store,
    total,
    within,
)
from vsebench.kernels.pairwise import dot

NORM = 32767  # the largest int16; a product of two vectors of this norm fits into int32
LARGEST_SCALE = 1e15  # NORM / |u| of shorter vectors: they are rounded more coarsely, and 1 / 0 is no case of its own
QUERIES = 6  # held-out labels at a time: their sums stay in registers, on processors with shorter vectors as well
ROUNDING_PAYS = platform.machine().lower() in ("x86_64", "amd64")  # others have no such instruction for two pairs
F32 = np.float32


@njit(cache=True, nogil=True)
def count_above(scores, queries, query_labels, offsets, row_labels, above_it, tied):
    """Count for n held-out labels.

    scores : (n, n_labels) float32, a row a held-out label
    queries, query_labels : (n,) int32, the images and their held-out labels
    offsets, row_labels : the training labels by rows; they are no candidates
    above_it, tied : (n,) int32, written: candidates that score higher, and others that score the same;
        both -1 where the held-out label is a training label itself
    """
    for q in range(len(queries)):
        row = scores[q]
        score = row[query_labels[q]]
        higher = np.int32(0)
        same = np.int32(0)
        for c in range(len(row)):
            higher += np.int32(row[c] > score)
            same += np.int32(row[c] == score)
        same -= np.int32(1)  # the held-out label itself
        for known in row_labels[offsets[queries[q]] : offsets[queries[q] + 1]]:
            if known == query_labels[q]:
                higher = np.int32(-1)
                same = np.int32(-1)
                break
            higher -= np.int32(row[known] > score)
            same -= np.int32(row[known] == score)
        above_it[q] = higher
        tied[q] = same


@njit(cache=True, fastmath=MATH)
def rounded(vectors, n):
    """Return the x of vectors, int16, and the 1 / r: NaN from the n-th on, which makes every comparison false."""
    whole = np.empty(vectors.shape, dtype=np.int16)
    scales = np.full(len(vectors), np.nan, dtype=np.float32)
    for row in range(len(vectors)):
        square = 0.0
        for k in range(vectors.shape[1]):
            square += np.float64(vectors[row, k]) ** 2
        scale = NORM / max(np.sqrt(square), NORM / LARGEST_SCALE)
        for k in range(vectors.shape[1]):
            whole[row, k] = np.int16(np.rint(vectors[row, k] * scale))
        if row < n:
            scales[row] = scale
    return whole, scales


class RoundedLabels(NamedTuple):
    """The vectors of labels as `count_embedded` reads them.

    Attributes
    ----------
    vectors
        (n_labels', K') float32; what is primed is filled up to a multiple of 16 with zeros.
    pairs
        (n_labels' / 16, K / 2 rounded up, 32) int16: for 16 labels and two factors, the two numbers of the first label,
        of the second and so on.
    scales
        (n_labels',) float32, the 1 / r.
    bound
        How far a product of two rounded vectors may be from the score in float32, divided by r s: besides the bound
        above the rounding of scores, and some more for that of the comparison.
    """

    vectors: NDArray[np.float32]
    pairs: NDArray[np.int16]
    scales: NDArray[np.float32]
    bound: float


def round_labels(labels: NDArray[np.float32]) -> RoundedLabels:
    """Prepare the vectors of labels, (n_labels, K) float32."""
    n_labels, n_factors = labels.shape
    vectors = aligned(filled_up(n_labels), filled_up(n_factors))
    vectors[:n_labels, :n_factors] = labels
    whole, scales = rounded(vectors, n_labels)
    n_pairs = -(-n_factors // 2)
    groups = whole[:, : 2 * n_pairs].reshape(-1, LANES, n_pairs, 2)  # 16 labels, label, two factors, factor
    pairs = np.ascontiguousarray(groups.transpose(0, 2, 1, 3)).reshape(-1, n_pairs, 2 * LANES)
    bound = NORM * n_factors**0.5 + n_factors / 4 + n_factors * 2.0**-23 * NORM**2 + 1024
    return RoundedLabels(vectors, pairs, scales, bound)


@njit(cache=True, fastmath=MATH, nogil=True)
def count_embedded(images, labels, queries, query_labels, offsets, row_labels, above_it, tied):
    """Do what `count_above` does, from `images` (n_images, K) float32 and `labels`, a `RoundedLabels`."""
    n_rows, n_factors = -(-len(queries) // QUERIES) * QUERIES, labels.vectors.shape[1]
    bound = F32(labels.bound)
    vectors = scratch(n_rows * n_factors).reshape(n_rows, n_factors)
    own = np.zeros(n_rows, dtype=np.float32)
    for q in range(len(queries)):
        for k in range(images.shape[1]):
            vectors[q, k] = images[queries[q], k]
        own[q] = dot(vectors, q, labels.vectors, query_labels[q])
        tied[q] = 0
    whole, scales = rounded(vectors, len(queries))
    limits = own * scales
    counts = scratch(n_rows * LANES).reshape(n_rows, LANES)
    for group in range(len(labels.pairs)):
        scale = load(labels.scales, group * LANES)
        for first in range(0, n_rows, QUERIES):
            for t, sums in enumerate(six_products(whole, first, labels.pairs, group)):
                q = first + t
                difference = numbers(sums) - limits[q] * scale
                store(counts, (q, 0), load(counts, (q, 0)) + above(difference, F32(bound)))
                undecided = within(difference, bound)
                if undecided:
                    for lane in range(LANES):
                        c = group * LANES + lane
                        if undecided >> lane & 1 and c != query_labels[q]:
                            score = dot(vectors, q, labels.vectors, c)
                            counts[q, lane] += score > own[q]
                            tied[q] += score == own[q]
    for q in range(len(queries)):
        above_it[q] = np.int32(total(load(counts, (q, 0))))
        for known in row_labels[offsets[queries[q]] : offsets[queries[q] + 1]]:
            if known == query_labels[q]:
                above_it[q] = tied[q] = -1
                break
            score = dot(vectors, q, labels.vectors, known)
            above_it[q] -= score > own[q]
            tied[q] -= score == own[q]


@njit(cache=True, inline="always")
def six_products(images, q, pairs, group):
    """Return the products of six rounded vectors, from row q on, with those of 16 labels."""
    a, b, c, d, e, f = no_sums(), no_sums(), no_sums(), no_sums(), no_sums(), no_sums()
    for pair in range(pairs.shape[1]):
        k, there = 2 * pair, (group, pair, 0)
        a = add_products(a, images, (q, k), pairs, there)
        b = add_products(b, images, (q + 1, k), pairs, there)
        c = add_products(c, images, (q + 2, k), pairs, there)
        d = add_products(d, images, (q + 3, k), pairs, there)
        e = add_products(e, images, (q + 4, k), pairs, there)
        f = add_products(f, images, (q + 5, k), pairs, there)
    return a, b, c, d, e, f
