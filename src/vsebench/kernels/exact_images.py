"""VSE-fs: the vectors of images with few labels are set to the exact minimum of the loss.

The loss and the symbols are those of `vsebench.kernels.full_sample`. While the labels' vectors are fixed, the loss is a
quadratic function of u_i. At its minimum,

    (A + sum_c (w_ic - beta_c) v_c v_c') u_i = sum_c b_ic v_c.

Here, A is H^C + lambda m_i I, b_ic is w_ic (1 + a_i |v_c|^2) + lambda m_i a_i, and the sums are over the labels of
image i. If the image has n labels, u_i is therefore a sum of n vectors:

    u_i = sum_c y_c A^-1 v_c,    y_c = b_ic - (w_ic - beta_c) s_ic.

The n scores s_ic solve the equations

    (I + G E) s = G b.

Here, G is the matrix of all v_c' A^-1 v_d, where c and d are labels of image i; E is a diagonal matrix with the
elements w_ic - beta_c; and s and b are the vectors of the s_ic and b_ic.

All pairs of n labels take about n^2 K / 2 multiply-adds. Coordinate descent takes K^2 for H^C u_i alone. The inverse of
A costs almost nothing, because all embeddings are rotated so that H^C is diagonal. A rotation of all embeddings changes
neither the scores nor the loss.

The equations are solved by elimination without exchanging rows. This is possible because lambda > 0 and the loss is
convex in u_i, even without some of the image's labels; so all leading minors of I + G E are positive.
"""

import numpy as np
from numba import njit

from vsebench.kernels.full_sample import longest
from vsebench.kernels.vectors import (
    FASTMATH,
    LANES,
    add_up,
    broadcast,
    divide,
    load,
    prefetch,
    scratch,
    sqrt,
    store,
    transpose,
)

MOST_LABELS = 24  # of an image; with more labels, coordinate descent is faster at K = 128
AHEAD = 2  # the vectors of an image's labels are prefetched this many images before they are read


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", nogil=True)
def minimise_images(
    start, stop, rows, labels, eigenvalues, gamma, regularisation, image_scales, blocks, scores, extended
):
    """Set the vectors of the images `start` to `stop` - 1 to the values that minimise the loss.

    start, stop : integers, images in the kernels' order; start is a multiple of 16
    labels : a `LabelSide`, in whose basis H^C is diagonal; its `changes` and `hessian` are not read
    eigenvalues : (K,), the diagonal of H^C, at least 0
    blocks, scores : written
    extended : (at least stop - start, K), the new u_i of these images as rows; written

    The other arguments are those of `full_sample.sweep_images`, but the regularisation must be greater than 0.

    Returns the sum of m_i |v_i|^2 over these images, float64.
    """
    n_factors = labels.vectors.shape[1]
    most = longest(rows.offsets, start, stop)
    x = scratch(LANES * most * n_factors).reshape(LANES, most, n_factors)  # A^(-1/2) v_c, image x label
    products = scratch(most * most * LANES * LANES).reshape(most, most, LANES, LANES)  # whose sums over an axis are G
    gram = scratch(most * most * LANES).reshape(most, most, LANES)  # G, and the image as last axis, as in what follows
    system = scratch(most * most * LANES).reshape(most, most, LANES)  # I + G E
    excess = scratch(most * LANES).reshape(most, LANES)  # w - beta
    y = scratch(most * LANES).reshape(most, LANES)  # b, then y
    score = scratch(most * LANES).reshape(most, LANES)
    roots = scratch(2 * n_factors).reshape(2, n_factors)  # the diagonals of A^(-1/2) and of A^(1/2)
    norm = 0.0
    for group in range(start, stop, LANES):
        width = min(LANES, stop - group)
        n = rows.offsets[group + width] - rows.offsets[group + width - 1]  # the last image has the most labels
        for lane in range(width):
            i = group + lane
            if lane == 0 or image_scales[i] != image_scales[i - 1]:
                write_roots(regularisation * image_scales[i], eigenvalues, roots)
            request(min(i + AHEAD, stop - 1), rows, labels.vectors, scores)
            collect(i, lane, n, rows, labels, gamma, regularisation * image_scales[i], roots, x, excess, y)
            multiply_pairs(lane, rows.offsets[i + 1] - rows.offsets[i], n, x, products)
        for j in range(n):
            for k in range(j + 1):
                g = column_sums(products, j, k)
                store(gram, (j, k, 0), g)
                store(gram, (k, j, 0), g)
        solve(n, gram, excess, system, y, score)
        for lane in range(width):
            i = group + lane
            if lane == 0 or image_scales[i] != image_scales[i - 1]:
                write_roots(regularisation * image_scales[i], eigenvalues, roots)
            squares = write_image(i, lane, i - start, rows, gamma, roots, x, y, blocks, extended)
            norm += squares * image_scales[i]
            first = rows.offsets[i]
            for j in range(rows.offsets[i + 1] - first):
                scores[rows.slots[first + j]] = score[j, lane]
    return norm


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", inline="always")
def write_roots(penalty, eigenvalues, roots):
    """Write the diagonals of A^(-1/2) and of A^(1/2) to the two rows of `roots`; `penalty` is lambda m_i."""
    for f in range(0, len(eigenvalues), LANES):
        root = sqrt(load(eigenvalues, f) + broadcast(penalty))
        store(roots, (0, f), divide(broadcast(np.float32(1)), root))
        store(roots, (1, f), root)


@njit(cache=True, inline="always")
def request(i, rows, vectors, scores):
    """Prefetch what the update of image i reads and writes: the vectors of its labels, and its scores."""
    for pair in range(rows.offsets[i], rows.offsets[i + 1]):
        prefetch(scores, rows.slots[pair])
        for f in range(0, vectors.shape[1], LANES):
            prefetch(vectors, (rows.labels[pair], f))


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", inline="always")
def collect(i, lane, n, rows, labels, gamma, penalty, roots, x, excess, y):
    """Write A^(-1/2) v_c, w_ic - beta_c and b_ic for each label c of image i, and zeros for missing labels up to n.

    penalty : float32, lambda m_i
    x, excess, y : written at [lane, j] and at [j, lane] for label number j (counted from 0)
    """
    first, degree = rows.offsets[i], rows.offsets[i + 1] - rows.offsets[i]
    a = np.float32(gamma / np.sqrt(max(degree, 1)))
    for j in range(degree):
        c, w = rows.labels[first + j], rows.weights[first + j]
        excess[j, lane] = w - labels.penalties[c]
        y[j, lane] = w * (np.float32(1) + a * labels.squared_norms[c]) + penalty * a
        for f in range(0, x.shape[2], LANES):
            store(x, (lane, j, f), load(labels.vectors, (c, f)) * load(roots, (0, f)))
    for j in range(degree, n):
        excess[j, lane] = y[j, lane] = np.float32(0)


@njit(cache=True, fastmath=FASTMATH, inline="always")
def multiply_pairs(lane, degree, n, x, products):
    """For each pair of labels of an image, write 16 numbers whose sum is the inner product of their rows of `x`.

    Two by two labels are multiplied at a time, so that a number that was read is used twice.
    """
    for j in range(0, degree, 2):
        j1 = min(j + 1, degree - 1)
        for k in range(0, j + 1, 2):
            k1 = min(k + 1, degree - 1)
            jk = jk1 = j1k = j1k1 = broadcast(np.float32(0))
            for f in range(0, x.shape[2], LANES):
                xj, xj1 = load(x, (lane, j, f)), load(x, (lane, j1, f))
                xk, xk1 = load(x, (lane, k, f)), load(x, (lane, k1, f))
                jk = jk + xj * xk
                jk1 = jk1 + xj * xk1
                j1k = j1k + xj1 * xk
                j1k1 = j1k1 + xj1 * xk1
            store(products, (j, k, lane, 0), jk)
            store(products, (j, k1, lane, 0), jk1)
            store(products, (j1, k, lane, 0), j1k)
            store(products, (j1, k1, lane, 0), j1k1)
    for j in range(degree, n):
        for k in range(j + 1):
            store(products, (j, k, lane, 0), broadcast(np.float32(0)))


@njit(cache=True, fastmath=FASTMATH, inline="always")
def column_sums(products, j, k):
    """Return the sums of the 16 rows of products[j, k], as a `Vector`; the rows themselves change."""
    transpose(products, (j, k, 0, 0))
    even = odd = broadcast(np.float32(0))
    for f in range(0, LANES, 2):
        even = even + load(products, (j, k, f, 0))
        odd = odd + load(products, (j, k, f + 1, 0))
    return even + odd


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", inline="always")
def solve(n, gram, excess, system, y, score):
    """Solve (I + G E) s = G b for 16 images.

    n : integer, the number of equations
    gram, excess : G and the diagonal of E
    system : overwritten
    y : b; replaced by b - E s
    score : s; written
    """
    one = broadcast(np.float32(1))
    for j in range(n):
        sums = broadcast(np.float32(0))
        for k in range(n):
            g = load(gram, (j, k, 0))
            sums = sums + g * load(y, (k, 0))
            store(system, (j, k, 0), g * load(excess, (k, 0)))
        store(score, (j, 0), sums)
        store(system, (j, j, 0), load(system, (j, j, 0)) + one)
    for k in range(n):
        inverse = divide(one, load(system, (k, k, 0)))
        for j in range(k + 1, n):
            factor = load(system, (j, k, 0)) * inverse
            for m in range(k + 1, n):
                store(system, (j, m, 0), load(system, (j, m, 0)) - factor * load(system, (k, m, 0)))
            store(score, (j, 0), load(score, (j, 0)) - factor * load(score, (k, 0)))
    for k in range(n - 1, -1, -1):
        s = load(score, (k, 0))
        for m in range(k + 1, n):
            s = s - load(system, (k, m, 0)) * load(score, (m, 0))
        s = divide(s, load(system, (k, k, 0)))
        store(score, (k, 0), s)
        store(y, (k, 0), load(y, (k, 0)) - load(excess, (k, 0)) * s)


@njit(cache=True, fastmath=FASTMATH, inline="always")
def write_image(i, lane, row, rows, gamma, roots, x, y, blocks, extended):
    """Write u_i = A^-1 sum_c y_c v_c to `blocks` and to row `row` of `extended`, and return |v_i|^2, float32."""
    degree = rows.offsets[i + 1] - rows.offsets[i]
    a = np.float32(gamma / np.sqrt(max(degree, 1)))
    squares = broadcast(np.float32(0))
    for f in range(0, x.shape[2], LANES):
        u = partners = broadcast(np.float32(0))
        for j in range(degree):
            u = u + y[j, lane] * load(x, (lane, j, f))
            partners = partners + load(x, (lane, j, f))
        u = load(roots, (0, f)) * u
        v = u - a * (load(roots, (1, f)) * partners)
        squares = squares + v * v
        store(extended, (row, f), u)
        store(blocks, (f // LANES, i, 0), u)
    return add_up(squares)
