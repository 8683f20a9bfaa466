"""Ranks by counting: how many candidates score above a held-out label, and how many the same.

Of embeddings, products of rounded vectors (`vsebench.kernels.rounding`) decide all but one of a thousand comparisons
with the held-out label's score. The others are computed in float32, and the counts are those of all float32 scores.
"""

import numpy as np
from numba import njit

from vsebench.kernels.lanes import LANES, MATH, add_products, count_bits, exceeding, load, no_sums, numbers, scratch
from vsebench.kernels.pairwise import dot
from vsebench.kernels.rounding import rounded

QUERIES = 6  # held-out labels at a time: their sums stay in registers, on processors with shorter vectors as well
F32 = np.float32


@njit(cache=True, nogil=True)
def count_above(scores, queries, query_labels, offsets, row_labels):
    """Count for n held-out labels: candidates that score higher, and others that score the same, both (n,) int32.

    Both are -1 where the held-out label is a training label itself.

    scores : (n, n_labels) float32, a row a held-out label
    queries, query_labels : (n,) int32, the images and their held-out labels
    offsets, row_labels : the training labels by rows; they are no candidates
    """
    above, tied = np.empty(len(queries), dtype=np.int32), np.empty(len(queries), dtype=np.int32)
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
        above[q] = higher
        tied[q] = same
    return above, tied


@njit(cache=True, fastmath=MATH, nogil=True)
def count_embedded(images, labels, queries, query_labels, offsets, row_labels):
    """Do what `count_above` does, from `images` (n_images, K) float32 and `labels`, a `RoundedLabels`."""
    n_rows, n_factors = -(-len(queries) // QUERIES) * QUERIES, labels.vectors.shape[1]
    bound = F32(labels.bound)
    vectors = scratch(n_rows * n_factors).reshape(n_rows, n_factors)
    own = np.zeros(n_rows, dtype=np.float32)
    above, tied = np.zeros(len(queries), dtype=np.int32), np.zeros(len(queries), dtype=np.int32)
    for q in range(len(queries)):
        for k in range(images.shape[1]):
            vectors[q, k] = images[queries[q], k]
        own[q] = dot(vectors, q, labels.vectors, query_labels[q])
    whole, scales = rounded(vectors, len(queries))
    limits = own * scales
    for group in range(len(labels.pairs)):
        scale = load(labels.scales, group * LANES)
        for first in range(0, n_rows, QUERIES):
            for t, sums in enumerate(six_products(whole, first, labels.pairs, group)):
                q = first + t
                difference = numbers(sums) - limits[q] * scale
                certain, possible = exceeding(difference, bound), exceeding(difference, -bound)
                if possible:
                    above[q] += count_bits(certain)
                if possible != certain:
                    for lane in range(LANES):
                        c = group * LANES + lane
                        if (possible ^ certain) >> lane & 1 and c != query_labels[q]:
                            score = dot(vectors, q, labels.vectors, c)
                            above[q] += score > own[q]
                            tied[q] += score == own[q]
    for q in range(len(queries)):
        for known in row_labels[offsets[queries[q]] : offsets[queries[q] + 1]]:
            if known == query_labels[q]:
                above[q] = tied[q] = -1
                break
            score = dot(vectors, q, labels.vectors, known)
            above[q] -= score > own[q]
            tied[q] -= score == own[q]
    return above, tied


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
