"""Compute ranks by counting the candidates that score higher than a held-out label, and those that score the same.

For embeddings, candidates are first compared with the held-out label by products of rounded vectors
(`vsebench.kernels.ranking.rounding`). About one comparison in a thousand remains undecided and is then made in float32,
so the counts are the same as with float32 alone.
"""

import numpy as np
from numba import njit

from vsebench.kernels.products import dot, rounded_products
from vsebench.kernels.ranking.rounding import round_rows
from vsebench.kernels.vectors import FASTMATH, LANES, count_bits, greater_mask, load, scratch, to_float

# Number of held-out labels compared at a time; their inner products fit into registers, even on processors with short
# vectors.
QUERIES = 6


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def count_embedded(images, labels, queries, query_labels, offsets, row_labels):
    """Count, for each held-out label, the candidates with a higher score, and the candidates with the same score.

    The score of label c for image i is <v_i, v_c>. Candidates are all labels except the image's training labels and the
    held-out label itself.

    images : (n_images, K) float32, v_i
    labels : `RoundedLabels` of the labels' vectors v_c
    queries : (n,) int32, the image of each held-out label
    query_labels : (n,) int32, the held-out labels
    offsets : (n_images + 1,) int64, where each image's training labels start in `row_labels`
    row_labels : (n_pairs,) int32, training labels

    Returns both counts, (n,) int32 each. Both are -1 if the held-out label is a training label of its image.
    """
    n_rows, n_factors = -(-len(queries) // QUERIES) * QUERIES, labels.vectors.shape[1]
    bound = np.float32(labels.bound)
    vectors = scratch(n_rows * n_factors).reshape(n_rows, n_factors)
    own = np.zeros(n_rows, dtype=np.float32)  # scores of the held-out labels
    above, tied = np.zeros(len(queries), dtype=np.int32), np.zeros(len(queries), dtype=np.int32)
    for q in range(len(queries)):
        for k in range(images.shape[1]):
            vectors[q, k] = images[queries[q], k]
        own[q] = dot(vectors, q, labels.vectors, query_labels[q])
    rounded, scales = round_rows(vectors, len(queries))
    limits = own * scales
    for group in range(len(labels.pairs)):
        scale = load(labels.scales, group * LANES)
        for first in range(0, n_rows, QUERIES):
            rows = (first, first + 1, first + 2, first + 3, first + 4, first + 5)
            groups = (group, group, group, group, group, group)
            for t, products in enumerate(rounded_products(rounded, rows, labels.pairs, groups)):
                q = first + t
                difference = to_float(products) - limits[q] * scale
                certain, possible = greater_mask(difference, bound), greater_mask(difference, -bound)
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
