"""Kernels as plain loops.

`benchmarks/without_vectors.py` compares them with the kernels that use `vsebench.kernels.vectors`. Each function does
the same as the function of the same name in the package, unless its docstring says otherwise. The compiler chooses the
order of additions, so the last bits of a model differ.
"""

import numpy as np
from numba import njit

from vsebench.kernels import full_sample
from vsebench.kernels.ranking.rounding import round_rows
from vsebench.kernels.sgd.image_rows import column
from vsebench.kernels.vectors import FASTMATH, LANES, scratch

INLINE = {"fastmath": FASTMATH, "inline": "always"}


@njit(**INLINE)
def dot(a, i, b, j):  # type: ignore[no-untyped-def]
    """Return the inner product of two rows."""
    total = np.float32(0)
    for f in range(a.shape[1]):
        total += a[i, f] * b[j, f]
    return total


@njit(**INLINE)
def margin(embedding, i, p, n):  # type: ignore[no-untyped-def]
    """Return <v_i, v_p - v_n> for image i, positive p and negative n."""
    images, labels = embedding
    total = np.float32(0)
    for f in range(images.shape[1]):
        total += images[i, f] * (labels[p, f] - labels[n, f])
    return total


@njit(**INLINE)
def sgd_step(embedding, i, p, n, size, shrinkage):  # type: ignore[no-untyped-def]
    """Take one gradient step on a triple (image i, positive p, negative n)."""
    images, labels = embedding
    keep = np.float32(1) - shrinkage
    for f in range(images.shape[1]):
        image, positive, negative = images[i, f], labels[p, f], labels[n, f]
        images[i, f] = keep * image + size * (positive - negative)
        labels[p, f] = keep * positive + size * image
        labels[n, f] = keep * negative - size * image


@njit(inline="always")
def contains(row_labels, start, stop, label):  # type: ignore[no-untyped-def]
    """Return whether an image has a label, without `vectors.any_equal`."""
    for j in range(start, stop):  # noqa: SIM110, numba compiles no generators
        if row_labels[j] == label:
            return True
    return False


@njit(inline="always")
def prefetch(array, index):  # type: ignore[no-untyped-def]
    """Do nothing."""


@njit(**INLINE)
def weigh_factors(images, i, deviations, sums):  # type: ignore[no-untyped-def]
    """Write the cumulative weights of factors, without `vectors.absolute` and `vectors.cumsum`."""
    n_factors = images.shape[1]
    for f in range(LANES):
        sums[f] = abs(images[i, f]) * deviations[f]
    for f in range(LANES, n_factors):
        sums[f] = sums[f - LANES] + abs(images[i, f]) * deviations[f]
    total = np.float32(0)
    for e in range(LANES):
        total += sums[n_factors - LANES + e]
        sums[n_factors + LANES + e] = total


@njit(**INLINE)
def find_factor(sums, share):  # type: ignore[no-untyped-def]
    """Return the factor where cumulative weights reach a share of their sum.

    The loop replaces `vectors.greater_mask` and `vectors.count_bits`.
    """
    n_factors = len(sums) - 2 * LANES
    rest = np.float32(share) * sums[-1]
    lane = 0
    for e in range(n_factors + LANES, n_factors + 2 * LANES):
        lane += not sums[e] > rest
    rest -= sums[n_factors + LANES + lane - 1]
    factor = min(lane, LANES - 1)
    for f in range(factor, n_factors, LANES):
        factor += LANES * (sums[f] <= rest)
    return factor


@njit(**INLINE)
def add_four_rows(rows, i, e, matrix, total):  # type: ignore[no-untyped-def]
    """Multiply four rows of a matrix by four numbers of image i, and add the products to `total`.

    The numbers are rows.values[e] to rows.values[e + 3]. Each number is multiplied by the matrix row of its feature.
    """
    w, x, y, z = rows.values[e], rows.values[e + 1], rows.values[e + 2], rows.values[e + 3]
    a, b, c, d = column(rows, i, e), column(rows, i, e + 1), column(rows, i, e + 2), column(rows, i, e + 3)
    for f in range(matrix.shape[1]):
        total[0, f] += w * matrix[a, f] + x * matrix[b, f] + y * matrix[c, f] + z * matrix[d, f]


@njit(**INLINE)
def add_to_rows(rows, i, matrix, direction):  # type: ignore[no-untyped-def]
    """For every feature of image i, add `direction` times the feature's value to the feature's row of `matrix`."""
    for e in range(rows.offsets[i], rows.offsets[i + 1]):
        j, x = column(rows, i, e), rows.values[e]
        for f in range(matrix.shape[1]):
            matrix[j, f] += x * direction[0, f]


@njit(**INLINE)
def score(rows, i, weights, c):  # type: ignore[no-untyped-def]
    """Return the inner product of the weights of label c and the features of image i."""
    start, total = rows.offsets[i], np.float32(0)
    if len(rows.columns) == 0:
        for e in range(start, rows.offsets[i + 1]):
            total += rows.values[e] * weights[c, e - start]
    else:
        for e in range(start, rows.offsets[i + 1]):
            total += rows.values[e] * weights[rows.columns[e], c]
    return total


@njit(**INLINE)
def add_row(rows, i, weights, c, size):  # type: ignore[no-untyped-def]
    """Add the features of image i, times `size`, to the weights of label c."""
    start = rows.offsets[i]
    if len(rows.columns) == 0:
        for e in range(start, rows.offsets[i + 1]):
            weights[c, e - start] += size * rows.values[e]
    else:
        for e in range(start, rows.offsets[i + 1]):
            weights[rows.columns[e], c] += size * rows.values[e]


@njit(inline="always")
def product(output, vectors, label):  # type: ignore[no-untyped-def]
    """Return the inner product of an output and a label's vector."""
    total = np.float32(0)
    for k in range(len(output)):
        total += output[k] * vectors[label, k]
    return np.float64(total)


@njit(fastmath=FASTMATH, error_model="numpy")
def sweep_images(  # type: ignore[no-untyped-def]
    start, stop, rows, labels, gamma, regularisation, image_scales, blocks, scores, extended
):
    """Update images one by one instead of 16 at a time."""
    n_factors = labels.vectors.shape[1]
    most = full_sample.longest(rows.offsets, start, stop)
    targets, excess, score, slopes = scratch(most), scratch(most), scratch(most), scratch(n_factors)
    norm = 0.0
    for i in range(start, stop):
        u, first, n = extended[i - start], rows.offsets[i], rows.offsets[i + 1] - rows.offsets[i]
        full_sample.extend_image(i, blocks, labels.changes, rows, gamma, extended, i - start)
        root, penalty = np.float32(gamma / np.sqrt(max(n, 1))), regularisation * image_scales[i]
        for j in range(n):
            c, w = rows.labels[first + j], rows.weights[first + j]
            targets[j] = w * (np.float32(1) + root * labels.squared_norms[c])
            excess[j] = w - labels.penalties[c]
            score[j] = dot(extended, i - start, labels.vectors, c)
        slopes[:] = 0
        for k in range(n_factors):
            for f in range(n_factors):
                slopes[f] -= labels.hessian[f // LANES, k, f % LANES] * u[k]
        for f in range(n_factors):
            slope, curvature, partners = slopes[f], labels.hessian[f // LANES, f, f % LANES] + penalty, np.float32(0)
            for j in range(n):
                x = labels.vectors[rows.labels[first + j], f]
                slope += (targets[j] - excess[j] * score[j]) * x
                curvature += excess[j] * x * x
                partners += x
            v = u[f] - root * partners
            change = (slope - penalty * v) / curvature if curvature > 0 else np.float32(0)
            norm += image_scales[i] * (v + change) ** 2
            u[f] += change
            for g in range(n_factors):
                slopes[g] -= labels.hessian[g // LANES, f, g % LANES] * change
            for j in range(n):
                score[j] += change * labels.vectors[rows.labels[first + j], f]
        for f in range(n_factors):
            blocks[f // LANES, i, f % LANES] = u[f]
        for j in range(n):
            scores[rows.slots[first + j]] = score[j]
    return norm


@njit(**INLINE)
def gather_labels(f0, group, width, n, vectors, rows, x):  # type: ignore[no-untyped-def]
    """Gather the vectors of the labels of 16 images, without `vectors.transpose`."""
    x[:n] = 0
    for lane in range(width):
        first = rows.offsets[group + lane]
        for j in range(rows.offsets[group + lane + 1] - first):
            c = rows.labels[first + j]
            for f in range(LANES):
                x[j, f, lane] = vectors[c, f0 + f]


@njit(**INLINE)
def gather_images(f0, first, degree, n_tiles, blocks, images, x):  # type: ignore[no-untyped-def]
    """Gather the vectors of the images of a label, without `vectors.transpose`."""
    x[(n_tiles - 1) * LANES : n_tiles * LANES] = 0
    for j in range(degree):
        full_sample.prefetch(blocks, (f0 // LANES, images[first + j + full_sample.AHEAD], 0))
        i, row, lane = images[first + j], j // LANES * LANES, j % LANES
        for f in range(LANES):
            x[row + f, lane] = blocks[f0 // LANES, i, f]


@njit
def where_above(keys, bound, found):  # type: ignore[no-untyped-def]
    """Write the indices of the keys above a bound to `found`, and return the number of these keys.

    The loop replaces `vectors.greater_mask`.
    """
    count = 0
    for i in range(len(keys)):
        if keys[i] > bound:
            found[count] = i
            count += 1
    return count


@njit(fastmath=FASTMATH)
def count_embedded(images, labels, queries, query_labels, offsets, row_labels):  # type: ignore[no-untyped-def]
    """Count the higher scores and the equal scores for each held-out label, without `vectors.add_products`.

    Scores are first compared by products of int16 numbers. Unlike in the package, known labels are counted, too.
    """
    n_labels = len(labels.vectors)
    vectors = images[queries]
    own = np.empty(len(queries), dtype=np.float32)
    for q in range(len(queries)):
        own[q] = dot(vectors, q, labels.vectors, query_labels[q])
    rounded, scales = round_rows(vectors, len(queries))
    rounded_labels = round_rows(labels.vectors, n_labels)[0]
    above, tied = np.zeros(len(queries), dtype=np.int32), np.zeros(len(queries), dtype=np.int32)
    bound = np.float32(labels.bound)
    for c in range(n_labels):
        for q in range(len(queries)):
            total = np.int32(0)
            for k in range(rounded.shape[1]):
                total = np.int32(total + np.int32(rounded[q, k]) * np.int32(rounded_labels[c, k]))
            difference = np.float32(total) - own[q] * scales[q] * labels.scales[c]
            above[q] += difference > bound
            if abs(difference) <= bound and c != query_labels[q]:
                score = dot(vectors, q, labels.vectors, c)
                above[q] += score > own[q]
                tied[q] += score == own[q]
    return above, tied
