"""VSE-fs: coordinate descent on the least squares over all (image, label) pairs (Zhai et al., Eq. 1 and 2).

With u_i = v_i + gamma p_i and p_i = |C_i|^(-1/2) sum of the vectors of i's labels, s_ic = <u_i, v_c>, the loss is

    sum over positives of w_ic (1 - z_ic)^2 - beta_c s_ic^2   +   sum_i u_i' H^C u_i   +   lambda (|V_I|^2 + |V_C|^2),

where z_ic = s_ic - a_i <v'_c, v_c> leaves c itself out of p_i, a_i = gamma |C_i|^(-1/2), H^C = sum_c beta_c v_c v_c'.
The paper's updates are printed wrongly; these are derived anew from Eq. 1 and 2 (docs/methods.md).

A row (of an image or a label) is updated factor by factor, as in the paper's Algorithm 1, with what the vectors of 16
numbers allow (`vsebench.kernels.lanes`): 16 images at a time, or 16 positives of a label. 16 factors make a block: the
partners' values in it are gathered once and transposed, so that all else runs over contiguous memory. Everything is
float32.

Of an image only u_i is kept, in `blocks` (K / 16, n_images, 16). When the labels have moved, u_i moves with them, and
v_i = u_i - gamma p_i where it is needed.

The positives come by rows (`offsets`, `row_labels`), images with few labels first, and by columns: the positives of
label c fill the tiles `tiles[c]` to `tiles[c + 1]` of 16 places; places left over hold weight 0, root 0 and score 0.
`roots` holds the a_i of each place, `places` the place of each positive of the rows.
"""

import numpy as np
from numba import njit

from vsebench.kernels.lanes import LANES, MATH, fill, load, over, prefetch, scratch, store, total, transpose

AHEAD = 32  # so many positives before its turn the vector of an image is asked for
F32 = np.float32


@njit(cache=True, fastmath=MATH, inline="always")
def follow(i, blocks, moved, offsets, row_labels, gamma, user):
    """Write u_i into `user` (K,), after its labels have moved by `moved` (n_labels, K)."""
    first, last = offsets[i], offsets[i + 1]
    scale = F32(gamma / np.sqrt(max(last - first, 1)))
    for f in range(0, len(user), LANES):
        store(user, f, fill(F32(0)))
    if gamma > 0:
        for pair in range(first, last):
            for f in range(0, len(user), LANES):
                store(user, f, load(user, f) + load(moved, (row_labels[pair], f)))
    for f in range(0, len(user), LANES):
        store(user, f, load(blocks, (f // LANES, i, 0)) + scale * load(user, f))


@njit(cache=True, fastmath=MATH, nogil=True)
def follow_all(start, stop, blocks, moved, offsets, row_labels, gamma, users):
    """Write the u_i of the images from `start` to `stop` into `users` (stop - start, K)."""
    for i in range(start, stop):
        follow(i, blocks, moved, offsets, row_labels, gamma, users[i - start])


@njit(cache=True, fastmath=MATH, inline="always")
def dot(a, labels, c):
    """Inner product of a vector and a label's."""
    products = fill(F32(0))
    for f in range(0, len(a), LANES):
        products = products + load(a, f) * load(labels, (c, f))
    return total(products)


@njit(cache=True, inline="always")
def most_of_one(offsets, start, stop):
    """Return how many a row from `start` to `stop` has at most."""
    most = 0
    for row in range(start, stop):
        most = max(most, offsets[row + 1] - offsets[row])
    return most


@njit(cache=True, fastmath=MATH, error_model="numpy", nogil=True)
def sweep_images(
    start,
    stop,
    blocks,
    labels,
    moved,
    offsets,
    row_labels,
    places,
    weights,
    beta,
    norms,
    hessian,
    gamma,
    ridge,
    scores,
    users,
):
    """Update the images from `start` to `stop`; return the sum of their |v_i|^2.

    `moved` is how far the labels went since the images were updated last, `hessian` is H^C, `norms` are the |v_c|^2,
    `ridge` is lambda. Written are the `scores` by columns, and the u_i to `blocks` and to `users` (stop - start, K).
    """
    n_factors = labels.shape[1]
    most = most_of_one(offsets, start, stop)
    x = scratch(most * LANES * LANES).reshape(most, LANES, LANES)  # positive, factor of the block, image
    goal = scratch(most * LANES).reshape(most, LANES)  # w (1 + a <v'_c, v_c>), positive x image
    excess = scratch(most * LANES).reshape(most, LANES)  # w - beta
    score = scratch(most * LANES).reshape(most, LANES)
    u = scratch(n_factors * LANES).reshape(n_factors, LANES)  # factor x image
    slopes = scratch(LANES * LANES).reshape(LANES, LANES)  # of the block's factors; without the positives' part
    roots, squares = scratch(LANES), scratch(LANES)  # a_i and |v_i|^2
    user = scratch(n_factors)
    norm = 0.0
    for group in range(start, stop, LANES):
        width = min(LANES, stop - group)
        n = offsets[group + width] - offsets[group + width - 1]  # of the last image, which has the most
        for lane in range(width):
            first, degree = offsets[group + lane], offsets[group + lane + 1] - offsets[group + lane]
            follow(group + lane, blocks, moved, offsets, row_labels, gamma, user)
            for f in range(0, n_factors, LANES):
                store(u, (f + lane, 0), load(user, f))
            roots[lane] = gamma / np.sqrt(max(degree, 1))
            for j in range(degree):
                c, w = row_labels[first + j], weights[first + j]
                goal[j, lane] = w * (F32(1) + roots[lane] * norms[c])
                excess[j, lane] = w - beta[c]
                score[j, lane] = dot(user, labels, c)
            for j in range(degree, n):
                goal[j, lane] = excess[j, lane] = score[j, lane] = F32(0)
        for f in range(0, n_factors, LANES):
            transpose(u, (f, 0))
        sums = fill(F32(0))
        for f0 in range(0, n_factors, LANES):
            gather(f0, group, width, n, labels, offsets, row_labels, x)
            pull_down(f0, u, hessian, slopes)
            sums = sums + descend(f0, n, x, goal, excess, score, slopes, u, load(roots, 0), hessian, ridge)
        store(squares, 0, sums)
        for f in range(0, n_factors, LANES):
            transpose(u, (f, 0))
            for lane in range(width):
                store(users, (group + lane - start, f), load(u, (f + lane, 0)))
                store(blocks, (f // LANES, group + lane, 0), load(u, (f + lane, 0)))
        for lane in range(width):
            norm += squares[lane]
            first = offsets[group + lane]
            for j in range(offsets[group + lane + 1] - first):
                scores[places[first + j]] = score[j, lane]
    return norm


@njit(cache=True, fastmath=MATH, inline="always")
def gather(f0, group, width, n, labels, offsets, row_labels, x):
    """Set x[j, f, lane] to factor f0 + f of the j-th label of an image, 0 where it has fewer."""
    for lane in range(width):
        first, degree = offsets[group + lane], offsets[group + lane + 1] - offsets[group + lane]
        for j in range(degree):
            store(x, (j, lane, 0), load(labels, (row_labels[first + j], f0)))
        for j in range(degree, n):
            store(x, (j, lane, 0), fill(F32(0)))
    for j in range(n):
        transpose(x, (j, 0, 0))


@njit(cache=True, fastmath=MATH, inline="always")
def pull_down(f0, u, hessian, slopes):
    """Set the slopes of a block's factors to -H^C u, for 16 images."""
    for f in range(LANES):
        store(slopes, (f, 0), fill(F32(0)))
    for k in range(0, len(u), 4):  # four at a time, so that a slope is read and written back less often
        u0, u1, u2, u3 = load(u, (k, 0)), load(u, (k + 1, 0)), load(u, (k + 2, 0)), load(u, (k + 3, 0))
        for f in range(LANES):
            h0, h1, h2, h3 = hessian[k, f0 + f], hessian[k + 1, f0 + f], hessian[k + 2, f0 + f], hessian[k + 3, f0 + f]
            store(slopes, (f, 0), load(slopes, (f, 0)) - h0 * u0 - h1 * u1 - h2 * u2 - h3 * u3)


@njit(cache=True, fastmath=MATH, error_model="numpy", inline="always")
def descend(f0, n, x, goal, excess, score, slopes, u, roots, hessian, ridge):
    """Go to the minimum in each factor of a block, one after the other; return the sums of the squared v_if.

    That is for 16 images of at most `n` positives.
    """
    squares = fill(F32(0))
    for f in range(LANES):
        slope = load(slopes, (f, 0))
        steepness = fill(hessian[f0 + f, f0 + f] + ridge)
        partners = fill(F32(0))
        for j in range(n):
            xf, e = load(x, (j, f, 0)), load(excess, (j, 0))
            slope = slope + (load(goal, (j, 0)) - e * load(score, (j, 0))) * xf
            steepness = steepness + e * xf * xf
            partners = partners + xf
        v = load(u, (f0 + f, 0)) - roots * partners
        change = over(slope - ridge * v, steepness)
        v = v + change
        squares = squares + v * v
        store(u, (f0 + f, 0), load(u, (f0 + f, 0)) + change)
        for g in range(LANES):
            store(slopes, (g, 0), load(slopes, (g, 0)) - hessian[f0 + f, f0 + g] * change)
        for j in range(n):
            store(score, (j, 0), load(score, (j, 0)) + change * load(x, (j, f, 0)))
    return squares


@njit(cache=True, fastmath=MATH, error_model="numpy", nogil=True)
def sweep_labels(
    start,
    stop,
    blocks,
    labels,
    before,
    degrees,
    tiles,
    column_images,
    weights,
    roots,
    beta,
    hessian,
    ridge,
    scores,
):
    """Update the labels from `start` to `stop`, with P and the v'_c of the sweep's beginning kept.

    `blocks` holds the u_i, `before` the v'_c, `degrees` how many images carry a label, `hessian` is
    H^I = sum_i u_i u_i', `ridge` is lambda.
    """
    most = most_of_one(tiles, start, stop)
    x = scratch(most * LANES * LANES).reshape(most * LANES, LANES)  # (tile, factor of the block) x positive
    slopes = scratch(LANES)  # of the block's factors; without the positives' part
    overlaps = np.empty(stop - start, dtype=np.float32)  # <v'_c, v_c>
    for c in range(start, stop):
        overlaps[c - start] = dot(before[c], labels, c)
    for f0 in range(0, labels.shape[1], LANES):  # the outermost loop, so that a block's u_i stay in the cache
        for c in range(start, stop):
            first, n, n_tiles = tiles[c] * LANES, degrees[c], tiles[c + 1] - tiles[c]
            for j in range(n):
                prefetch(blocks, (f0 // LANES, column_images[first + j + AHEAD], 0))
                store(x, (j, 0), load(blocks, (f0 // LANES, column_images[first + j], 0)))
            for j in range(n, n_tiles * LANES):
                store(x, (j, 0), fill(F32(0)))
            for tile in range(n_tiles):
                transpose(x, (tile * LANES, 0))
            pulls = fill(F32(0))
            for k in range(labels.shape[1]):
                pulls = pulls + labels[c, k] * load(hessian, (k, f0))
            store(slopes, 0, -beta[c] * pulls - ridge * load(labels, (c, f0)))
            overlap = overlaps[c - start]
            excluded, excluded_steepness = exclusion(first, n_tiles, weights, roots, scores, overlap)
            for f in range(LANES):
                old = before[c, f0 + f]
                slope, steepness, mixed = fill(F32(0)), fill(F32(0)), fill(F32(0))
                for tile in range(n_tiles):
                    j = first + tile * LANES
                    xf, w, a = load(x, (tile * LANES + f, 0)), load(weights, j), load(roots, j)
                    excess = w - fill(beta[c])
                    slope = slope + (w + w * (overlap * a) - excess * load(scores, j)) * xf
                    steepness = steepness + excess * xf * xf
                    mixed = mixed + w * a * xf
                m = total(mixed)
                downhill = slopes[f] - old * excluded + total(slope)
                curvature = beta[c] * hessian[f0 + f, f0 + f] + ridge + total(steepness)
                curvature += old * (old * excluded_steepness - F32(2) * m)
                change = downhill / curvature if curvature > 0 else F32(0)
                labels[c, f0 + f] += change
                slopes_change = load(hessian, (f0 + f, f0))
                store(slopes, 0, load(slopes, 0) - (beta[c] * change) * slopes_change)
                overlap += change * old
                excluded += change * (old * excluded_steepness - m)
                for tile in range(n_tiles):
                    j = first + tile * LANES
                    store(scores, j, load(scores, j) + change * load(x, (tile * LANES + f, 0)))
            overlaps[c - start] = overlap


@njit(cache=True, fastmath=MATH, inline="always")
def exclusion(first, n_tiles, weights, roots, scores, overlap):
    """Return the sums of w a (1 - z) and of w a^2 over a label's positives."""
    excluded, steepness = fill(F32(0)), fill(F32(0))
    for tile in range(n_tiles):
        j = first + tile * LANES
        a = load(roots, j)
        share = load(weights, j) * a
        excluded = excluded + share * (fill(F32(1)) - load(scores, j) + overlap * a)
        steepness = steepness + share * a
    return total(excluded), total(steepness)


@njit(cache=True, fastmath=MATH, nogil=True)
def positive_loss(tiles, weights, roots, scores, beta, norms):
    """Return the sum over positives of w (1 - z)^2 - beta s^2 where v'_c = v_c."""
    loss = 0.0
    for c in range(len(beta)):
        missed, scored = fill(F32(0)), fill(F32(0))
        for j in range(tiles[c] * LANES, tiles[c + 1] * LANES, LANES):
            s = load(scores, j)
            miss = fill(F32(1)) - s + norms[c] * load(roots, j)
            missed = missed + load(weights, j) * miss * miss
            scored = scored + s * s
        loss += total(missed) - beta[c] * total(scored)
    return loss
