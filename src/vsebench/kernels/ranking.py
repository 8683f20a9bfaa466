"""Ranks by counting: how many candidates score above a held-out label, and how many the same."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_above(scores, queries, query_labels, offsets, row_labels, above, tied):
    """Count for n held-out labels.

    scores : (n, n_labels) float32, a row a held-out label
    queries, query_labels : (n,) int32, the images and their held-out labels
    offsets, row_labels : the training labels by rows; they are no candidates
    above, tied : (n,) int32, written: candidates that score higher, and others that score the same;
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
        above[q] = higher
        tied[q] = same
