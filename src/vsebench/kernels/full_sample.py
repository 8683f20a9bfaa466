"""VSE-fs: coordinate descent on the least-squares loss over all (image, label) pairs (Zhai et al., Eq. 1 and 2).

Image i has the vector v_i and the set of labels C_i. Label c has the vector v_c. The loss is

    sum over positives of (w_ic (1 - z_ic)^2 - beta_c s_ic^2)   +   sum_i u_i' H^C u_i
    + lambda (sum_i m_i |v_i|^2 + sum_c m_c |v_c|^2).

The symbols have the following meaning.

- u_i = v_i + gamma p_i is the extended vector of image i, where p_i = |C_i|^(-1/2) (sum of the vectors of i's labels).
- s_ic = <u_i, v_c> is the score of label c for image i.
- z_ic = s_ic - a_i <v'_c, v_c> is the score without the contribution of c itself to p_i. Here, a_i is
  gamma |C_i|^(-1/2), and v'_c is the value that v_c had when p_i was computed.
- w_ic is the weight of a positive. The weight of any other pair is beta_c.
- H^C is the matrix sum_c beta_c v_c v_c'.
- m_i and m_c are scales of the penalty lambda. They are 1 in the paper.

The paper's updates are misprinted; docs/methods.md derives the correct ones.

The vector of an image or a label is updated factor by factor, as in the paper's Algorithm 1. However, 16 images, or 16
positives of a label, are processed at a time. A block consists of 16 of the K factors. To update a block, the same 16
factors of the image's labels, or of the label's images, are gathered once and transposed. Then all other loops read
contiguous memory. Arrays are float32 unless another type is stated.

For each image, only u_i is stored. If the vectors of an image's labels have changed since the image's last update, u_i
is corrected before the next update. The vector v_i = u_i - gamma p_i is computed where it is needed.

`vsebench.methods.by_labels.full_sample.rows_and_columns` shows with an example how positives are indexed.

The following arguments have the same meaning in all functions, whose docstrings do not repeat them.

rows, columns : `Rows` and `Columns`
labels : in an update of images, a `LabelSide`; in an update of labels, the v_c, (n_labels, K)
blocks : (K / 16, n_images, 16), the u_i
scores : (n_slots,), the s_ic of the positives, in the order of the slots (array positions) of `Columns`
penalties : (n_labels,), beta_c
squared_norms : (n_labels,), |v_c|^2
hessian
    (K / 16, K, 16). In an update of images, this is H^C; in an update of labels, H^I = sum_i u_i u_i'. hessian[b, k, f]
    is the element in row k and column 16 b + f of the matrix, so that the rows of a block are contiguous in memory.
gamma, regularisation : gamma and lambda
image_scales : (n_images rounded up to a multiple of 16,), m_i in the kernels' order (see `Rows`)
label_scales : (n_labels,), m_c
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.products import dot
from vsebench.kernels.vectors import (
    FASTMATH,
    LANES,
    add_up,
    broadcast,
    divide_or_zero,
    load,
    prefetch,
    scratch,
    store,
    transpose,
)

AHEAD = 32  # an image's vector is prefetched this many positives before the positive that reads it


class Rows(NamedTuple):
    """The positives, sorted by image.

    In the kernels' order, which is used here, images with few labels come first.

    Attributes
    ----------
    offsets : (n_images + 1,) int64, where the positives of each image start
    labels : (n_pairs,) int32, the label of each positive
    weights : (n_pairs,) float32, w_ic
    slots : (n_pairs,) int32, the slot of each positive in `Columns`
    """

    offsets: NDArray[np.int64]
    labels: NDArray[np.int32]
    weights: NDArray[np.float32]
    slots: NDArray[np.int32]


class Columns(NamedTuple):
    """The positives, sorted by label.

    A tile consists of 16 slots. Each label has as many tiles as its positives need. The rest of its last tile is
    padding.

    Attributes
    ----------
    degrees : (n_labels,) int64, number of images with each label
    tiles : (n_labels + 1,) int64, the first tile of each label; the first slot of label c is 16 tiles[c]
    images : (n_slots + AHEAD,) int32, the image in each slot, numbered in the kernels' order; 0 in the padding
    weights : (n_slots,) float32, w_ic; 0 in the padding
    roots : (n_slots,) float32, a_i = gamma |C_i|^(-1/2); 0 in the padding
    """

    degrees: NDArray[np.int64]
    tiles: NDArray[np.int64]
    images: NDArray[np.int32]
    weights: NDArray[np.float32]
    roots: NDArray[np.float32]


class LabelSide(NamedTuple):
    """The labels' arrays, which an update of the images reads.

    Attributes
    ----------
    vectors : (n_labels, K) float32, v_c
    changes : (n_labels, K) float32, v_c minus its value at the last update of the images
    penalties : (n_labels,) float32, beta_c
    squared_norms : (n_labels,) float32, |v_c|^2
    hessian : (K / 16, K, 16) float32, H^C = sum_c beta_c v_c v_c'
    """

    vectors: NDArray[np.float32]
    changes: NDArray[np.float32]
    penalties: NDArray[np.float32]
    squared_norms: NDArray[np.float32]
    hessian: NDArray[np.float32]


@njit(cache=True, fastmath=FASTMATH, inline="always")
def extend_image(i, blocks, changes, rows, gamma, extended, row):
    """Correct u_i for changes of the vectors of image i's labels, and write it to row `row` of `extended`.

    blocks : the u_i before the changes
    changes : (n_labels, K), the change of each label's vector
    extended : (n, K)
    """
    first, last = rows.offsets[i], rows.offsets[i + 1]
    scale = np.float32(gamma / np.sqrt(max(last - first, 1)))
    for block in range(len(blocks)):
        sums = broadcast(np.float32(0))
        prefetch(blocks, (block, i + LANES, 0))
        if gamma > 0:
            for pair in range(first, last):
                sums = sums + load(changes, (rows.labels[pair], LANES * block))
        store(extended, (row, LANES * block), load(blocks, (block, i, 0)) + scale * sums)


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def extend_images(start, stop, blocks, changes, rows, gamma, extended):
    """Correct the u_i of the images `start` to `stop` - 1, and write them to `extended`; see `extend_image`.

    extended : (stop - start, K)
    """
    for i in range(start, stop):
        extend_image(i, blocks, changes, rows, gamma, extended, i - start)


@njit(cache=True, inline="always")
def longest(offsets, start, stop):
    """Return the length of the longest of the rows `start` to `stop` - 1.

    Row r has the length offsets[r + 1] - offsets[r].
    """
    most = 0
    for row in range(start, stop):
        most = max(most, offsets[row + 1] - offsets[row])
    return most


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", nogil=True)
def sweep_images(start, stop, rows, labels, gamma, regularisation, image_scales, blocks, scores, extended):
    """Update the vectors of the images `start` to `stop` - 1.

    Each factor in turn is set to the value that minimises the loss.

    start, stop : integers, images in the kernels' order; start is a multiple of 16
    blocks, scores : updated
    extended : (at least stop - start, K), the new u_i of these images as rows; written

    Returns the sum of m_i |v_i|^2 over these images, float64.
    """
    n_factors = labels.vectors.shape[1]
    most = longest(rows.offsets, start, stop)
    x = scratch(most * LANES * LANES).reshape(most, LANES, LANES)  # v_cf, positive x factor of the block x image
    targets = scratch(most * LANES).reshape(most, LANES)  # w (1 + a <v'_c, v_c>), positive x image
    excess = scratch(most * LANES).reshape(most, LANES)  # w - beta, positive x image
    score = scratch(most * LANES).reshape(most, LANES)  # positive x image
    u = scratch(n_factors * LANES).reshape(n_factors, LANES)  # u_i, factor x image
    slopes = scratch(LANES * LANES).reshape(LANES, LANES)  # -H^C u, factor of the block x image
    roots, squares = scratch(LANES), scratch(LANES)  # a_i and |v_i|^2
    norm = 0.0
    for group in range(start, stop, LANES):
        width = min(LANES, stop - group)
        n = (
            rows.offsets[group + width] - rows.offsets[group + width - 1]
        )  # degree of the last image, which has the most labels
        for lane in range(width):
            i, row = group + lane, group + lane - start
            first, degree = rows.offsets[i], rows.offsets[i + 1] - rows.offsets[i]
            extend_image(i, blocks, labels.changes, rows, gamma, extended, row)
            for f in range(0, n_factors, LANES):
                store(u, (f + lane, 0), load(extended, (row, f)))
            roots[lane] = gamma / np.sqrt(max(degree, 1))
            for j in range(degree):
                c, w = rows.labels[first + j], rows.weights[first + j]
                targets[j, lane] = w * (np.float32(1) + roots[lane] * labels.squared_norms[c])
                excess[j, lane] = w - labels.penalties[c]
                score[j, lane] = dot(extended, row, labels.vectors, c)
            for j in range(degree, n):
                targets[j, lane] = excess[j, lane] = score[j, lane] = np.float32(0)
        for f in range(0, n_factors, LANES):
            transpose(u, (f, 0))
        sums = broadcast(np.float32(0))
        penalty = regularisation * load(image_scales, group)
        for f0 in range(0, n_factors, LANES):
            gather_labels(f0, group, width, n, labels.vectors, rows, x)
            negative_products(f0, u, labels.hessian, slopes)
            sums = sums + minimise_block(
                f0, n, x, targets, excess, score, slopes, u, load(roots, 0), labels.hessian, penalty
            )
        store(squares, 0, sums)
        for f in range(0, n_factors, LANES):
            transpose(u, (f, 0))
            for lane in range(width):
                store(extended, (group + lane - start, f), load(u, (f + lane, 0)))
                store(blocks, (f // LANES, group + lane, 0), load(u, (f + lane, 0)))
        for lane in range(width):
            norm += squares[lane] * image_scales[group + lane]
            first = rows.offsets[group + lane]
            for j in range(rows.offsets[group + lane + 1] - first):
                scores[rows.slots[first + j]] = score[j, lane]
    return norm


@njit(cache=True, fastmath=FASTMATH, inline="always")
def gather_labels(f0, group, width, n, vectors, rows, x):
    """Gather the factors f0 to f0 + 15 of the labels of 16 images into `x`.

    x[j, f, lane] is factor f0 + f of label number j (counted from 0) of image `group` + lane.

    group, width : integers, the first image and the number of images, at most 16
    n : integer, the largest number of labels of one of these images
    vectors : (n_labels, K), v_c
    x : (at least n, 16, 16), written; 0 where an image has fewer than n labels
    """
    for lane in range(width):
        first, degree = rows.offsets[group + lane], rows.offsets[group + lane + 1] - rows.offsets[group + lane]
        for j in range(degree):
            store(x, (j, lane, 0), load(vectors, (rows.labels[first + j], f0)))
        for j in range(degree, n):
            store(x, (j, lane, 0), broadcast(np.float32(0)))
    for j in range(n):
        transpose(x, (j, 0, 0))


@njit(cache=True, fastmath=FASTMATH, inline="always")
def negative_products(f0, u, hessian, slopes):
    """Compute the components f0 to f0 + 15 of -H^C u_i for 16 images.

    This is the part of the update that sums over all labels.

    u : (K, 16), the u_i as columns
    slopes : (16, 16), the components as rows, with one column per image; written
    """
    b = f0 // LANES
    for f in range(LANES):
        store(slopes, (f, 0), broadcast(np.float32(0)))
    for k in range(0, len(u), 4):  # four at a time, so that slopes are read and written less often
        u0, u1, u2, u3 = load(u, (k, 0)), load(u, (k + 1, 0)), load(u, (k + 2, 0)), load(u, (k + 3, 0))
        for f in range(LANES):
            h0, h1, h2, h3 = hessian[b, k, f], hessian[b, k + 1, f], hessian[b, k + 2, f], hessian[b, k + 3, f]
            store(slopes, (f, 0), load(slopes, (f, 0)) - h0 * u0 - h1 * u1 - h2 * u2 - h3 * u3)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", inline="always")
def minimise_block(f0, n, x, targets, excess, score, slopes, u, roots, hessian, penalty):
    """Set the factors f0 to f0 + 15 of 16 images, one factor after the other, to the values that minimise the loss.

    The update of factor f of image i is

        v_if += [sum_c v_cf e_ic - (H^C u_i)_f - lambda m_i v_if]
                / [sum_c (w_ic - beta_c) v_cf^2 + h^C_ff + lambda m_i].

    Here, e_ic is w_ic (1 + a_i <v'_c, v_c>) - (w_ic - beta_c) s_ic, and h^C_ff is a diagonal element of H^C. The sums
    are over the labels of image i. In the following arrays, the last axis is the image.

    n : integer, the largest number of positives of one of the 16 images
    x : (n, 16, 16) float32, v_cf for each positive of an image and each factor of the block
    targets : (n, 16) float32, w_ic (1 + a_i <v'_c, v_c>) for each positive
    excess : (n, 16) float32, w_ic - beta_c for each positive
    score : (n, 16) float32, s_ic for each positive; updated
    slopes : (16, 16) float32, -(H^C u_i)_f for each factor f of the block; updated
    u : (K, 16) float32, the u_i; updated
    roots, penalty : `Vector`s, the a_i and the lambda m_i

    Returns for each image the sum of v_if^2 over the block's factors, as a `Vector`.
    """
    squares = broadcast(np.float32(0))
    for f in range(LANES):
        slope = load(slopes, (f, 0))
        curvature = broadcast(hessian[f0 // LANES, f0 + f, f]) + penalty
        partners = broadcast(np.float32(0))
        for j in range(n):
            xf, e = load(x, (j, f, 0)), load(excess, (j, 0))
            slope = slope + (load(targets, (j, 0)) - e * load(score, (j, 0))) * xf
            curvature = curvature + e * xf * xf
            partners = partners + xf
        v = load(u, (f0 + f, 0)) - roots * partners
        change = divide_or_zero(slope - penalty * v, curvature)
        v = v + change
        squares = squares + v * v
        store(u, (f0 + f, 0), load(u, (f0 + f, 0)) + change)
        for g in range(f + 1, LANES):  # the slopes of earlier factors are no longer needed
            store(slopes, (g, 0), load(slopes, (g, 0)) - hessian[f0 // LANES, f0 + f, g] * change)
        for j in range(n):
            store(score, (j, 0), load(score, (j, 0)) + change * load(x, (j, f, 0)))
    return squares


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", nogil=True)
def sweep_labels(
    start, stop, columns, blocks, previous, penalties, hessian, regularisation, label_scales, scores, labels
):
    """Update the vectors of the labels `start` to `stop` - 1, with all p_i fixed.

    Each factor in turn is set to the value that minimises the loss. The update of factor f of label c is

        v_cf += [sum_i (u_if e_ic - a_i v'_cf w_ic (1 - z_ic)) - beta_c (H^I v_c)_f - lambda m_c v_cf]
                / [sum_i (w_ic (u_if - a_i v'_cf)^2 - beta_c u_if^2) + beta_c h^I_ff + lambda m_c].

    Here, e_ic is w_ic (1 - z_ic) + beta_c s_ic, and h^I_ff is a diagonal element of H^I. The sums are over the images
    with label c.

    start, stop : integers, labels
    previous : (n_labels, K), v'_c, the labels' vectors before the sweep
    scores, labels : updated
    """
    most = longest(columns.tiles, start, stop)
    x = scratch(most * LANES * LANES).reshape(most * LANES, LANES)  # u_if: (tile, factor of the block) x positive
    slopes = scratch(LANES)  # of the block's factors, without the positives' terms
    overlaps = np.empty(stop - start, dtype=np.float32)  # <v'_c, v_c>
    for c in range(start, stop):
        overlaps[c - start] = dot(previous, c, labels, c)
    for f0 in range(0, labels.shape[1], LANES):  # the outermost loop, so that a block's u_i stay in the cache
        for c in range(start, stop):
            first, n_tiles = columns.tiles[c] * LANES, columns.tiles[c + 1] - columns.tiles[c]
            gather_images(f0, first, columns.degrees[c], n_tiles, blocks, columns.images, x)
            products = broadcast(np.float32(0))  # H^I v_c
            for k in range(labels.shape[1]):
                products = products + labels[c, k] * load(hessian, (f0 // LANES, k, 0))
            penalty = regularisation * label_scales[c]
            store(slopes, 0, -penalties[c] * products - penalty * load(labels, (c, f0)))
            overlap = overlaps[c - start]
            excluded, excluded_curvature = exclusion(first, n_tiles, columns, scores, overlap)
            for f in range(LANES):
                old = previous[c, f0 + f]
                slope = broadcast(np.float32(0))
                curvature, mixed = broadcast(np.float32(0)), broadcast(np.float32(0))
                for tile in range(n_tiles):
                    j = first + tile * LANES
                    xf, w, a = load(x, (tile * LANES + f, 0)), load(columns.weights, j), load(columns.roots, j)
                    excess = w - broadcast(penalties[c])
                    slope = slope + (w + w * (overlap * a) - excess * load(scores, j)) * xf
                    curvature = curvature + excess * xf * xf
                    mixed = mixed + w * a * xf
                m = add_up(mixed)
                numerator = slopes[f] - old * excluded + add_up(slope)
                denominator = penalties[c] * hessian[f0 // LANES, f0 + f, f] + penalty + add_up(curvature)
                denominator += old * (old * excluded_curvature - np.float32(2) * m)
                change = numerator / denominator if denominator > 0 else np.float32(0)
                labels[c, f0 + f] += change
                hessian_row = load(hessian, (f0 // LANES, f0 + f, 0))
                store(slopes, 0, load(slopes, 0) - (penalties[c] * change) * hessian_row)
                overlap += change * old
                excluded += change * (old * excluded_curvature - m)
                for tile in range(n_tiles):
                    j = first + tile * LANES
                    store(scores, j, load(scores, j) + change * load(x, (tile * LANES + f, 0)))
            overlaps[c - start] = overlap


@njit(cache=True, fastmath=FASTMATH, inline="always")
def gather_images(f0, first, degree, n_tiles, blocks, images, x):
    """Gather the factors f0 to f0 + 15 of the u_i of a label's images into `x`.

    x[16 * t + f, e] is factor f0 + f of image e of tile t.

    first : integer, the label's first slot
    degree, n_tiles : integers, the label's numbers of images and of tiles
    images : (n_slots + AHEAD,) int32, as in `Columns`
    x : (at least 16 n_tiles, 16), written; 0 in the padding of the last tile
    """
    for j in range(degree):
        prefetch(blocks, (f0 // LANES, images[first + j + AHEAD], 0))
        store(x, (j, 0), load(blocks, (f0 // LANES, images[first + j], 0)))
    for j in range(degree, n_tiles * LANES):
        store(x, (j, 0), broadcast(np.float32(0)))
    for tile in range(n_tiles):
        transpose(x, (tile * LANES, 0))


@njit(cache=True, fastmath=FASTMATH, inline="always")
def exclusion(first, n_tiles, columns, scores, overlap):
    """Return the sum of w_ic a_i (1 - z_ic) and the sum of w_ic a_i^2 over the positives of a label c, both float32.

    first, n_tiles : integers, the label's first slot and number of tiles
    overlap : float32, <v'_c, v_c>
    """
    excluded, curvature = broadcast(np.float32(0)), broadcast(np.float32(0))
    for tile in range(n_tiles):
        j = first + tile * LANES
        a = load(columns.roots, j)
        share = load(columns.weights, j) * a
        excluded = excluded + share * (broadcast(np.float32(1)) - load(scores, j) + overlap * a)
        curvature = curvature + share * a
    return add_up(excluded), add_up(curvature)


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def positive_loss(columns, scores, penalties, squared_norms):
    """Return the part of the loss that sums over the positives, float64, with v'_c = v_c.

    It is the sum of w_ic (1 - z_ic)^2 - beta_c s_ic^2.
    """
    loss = 0.0
    for c in range(len(penalties)):
        missed, scored = broadcast(np.float32(0)), broadcast(np.float32(0))
        for j in range(columns.tiles[c] * LANES, columns.tiles[c + 1] * LANES, LANES):
            s = load(scores, j)
            miss = broadcast(np.float32(1)) - s + squared_norms[c] * load(columns.roots, j)
            missed = missed + load(columns.weights, j) * miss * miss
            scored = scored + s * s
        loss += add_up(missed) - penalties[c] * add_up(scored)
    return loss
