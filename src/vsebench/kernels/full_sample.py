"""VSE-fs: coordinate descent on the least squares over all (image, label) pairs (Zhai et al., Eq. 1 and 2).

With u_i = v_i + gamma p_i and p_i = |C_i|^(-1/2) sum of the vectors of i's labels, s_ic = <u_i, v_c>, the loss is

    sum over positives of w_ic (1 - z_ic)^2 - beta_c s_ic^2   +   sum_i u_i' H^C u_i   +   lambda (|V_I|^2 + |V_C|^2),

where z_ic = s_ic - a_i <v'_c, v_c> leaves c itself out of p_i, a_i = gamma |C_i|^(-1/2), H^C = sum_c beta_c v_c v_c'.
The paper's updates are printed wrongly; these are derived anew from Eq. 1 and 2 (docs/methods.md).

A row (of an image or a label) is updated factor by factor, as in the paper's Algorithm 1. LANES factors make a block:
the partners' values in it are gathered once, factor-major, so that the loops over partners run over contiguous memory,
and the product with H^C is one matrix product for many images. Everything is float32.
"""

import numpy as np
from numba import njit

from vsebench.kernels.pairwise import MATH, dot

LANES = 16
F32 = np.float32


@njit(cache=True, fastmath=MATH, nogil=True)
def refresh_images(start, stop, users, images, labels, offsets, row_labels, gamma, scores):
    """Set users[i] = u_i and the scores s_ic of the positives for the images from `start` to `stop`."""
    for i in range(start, stop):
        u = users[i]
        u[:] = images[i]
        first, last = offsets[i], offsets[i + 1]
        if gamma > 0 and last > first:
            scale = F32(gamma / np.sqrt(last - first))
            for pair in range(first, last):
                v = labels[row_labels[pair]]
                for f in range(len(u)):
                    u[f] += scale * v[f]
        for pair in range(first, last):
            scores[pair] = dot(u, labels[row_labels[pair]])


@njit(cache=True, fastmath=MATH, inline="always")
def gather(block, place, row):
    """Write LANES values of a partner's row as column `place` of the factor-major `block`."""
    for f in range(LANES):
        block[f, place] = row[f]


@njit(cache=True, fastmath=MATH, error_model="numpy", nogil=True)
def sweep_images(
    start,
    stop,
    f0,
    pull,
    users,
    images,
    labels,
    offsets,
    row_labels,
    weights,
    beta,
    norms,
    hessian,
    gamma,
    ridge,
    scores,
):
    """Update the factors f0 to f0 + LANES of the images from `start` to `stop`.

    `pull` (stop - start, LANES) holds u_i' H^C for these factors and is overwritten, `hessian` is the LANES x LANES
    block of H^C, `norms` are the |v_c|^2, `ridge` is lambda.
    """
    most = np.max(offsets[start + 1 : stop + 1] - offsets[start:stop])
    block = np.empty((LANES, most), dtype=np.float32)
    error = np.empty(most, dtype=np.float32)  # w (1 + excl) - (w - beta) s
    excess = np.empty(most, dtype=np.float32)  # w - beta
    score = np.empty(most, dtype=np.float32)
    for i in range(start, stop):
        first, n = offsets[i], offsets[i + 1] - offsets[i]
        scale = F32(gamma / np.sqrt(max(n, 1)))
        for j in range(n):
            c, w = row_labels[first + j], weights[first + j]
            gather(block, j, labels[c, f0 : f0 + LANES])
            excess[j] = w - beta[c]
            score[j] = scores[first + j]
            error[j] = w * (F32(1) + scale * norms[c]) - excess[j] * score[j]
        for f in range(LANES):
            x = block[f]
            slope = -pull[i - start, f] - ridge * images[i, f0 + f]
            steepness = hessian[f, f] + ridge
            for j in range(n):
                slope += error[j] * x[j]
                steepness += excess[j] * x[j] * x[j]
            change = slope / steepness if steepness > 0 else F32(0)
            images[i, f0 + f] += change
            users[i, f0 + f] += change
            for g in range(LANES):
                pull[i - start, g] += change * hessian[f, g]
            for j in range(n):
                error[j] -= change * excess[j] * x[j]
                score[j] += change * x[j]
        for j in range(n):
            scores[first + j] = score[j]


@njit(cache=True, fastmath=MATH, error_model="numpy", nogil=True)
def sweep_labels(
    start,
    stop,
    users,
    labels,
    offsets,
    column_images,
    column_pairs,
    weights,
    beta,
    degrees,
    hessian,
    gamma,
    ridge,
    scores,
):
    """Update the labels from `start` to `stop`, with P and the v'_c of the sweep's beginning kept.

    The positives come by columns: `column_images` and, for the place of their weight and score, `column_pairs`.
    `hessian` is H^I = sum_i u_i u_i', `degrees` the |C_i|, `ridge` is lambda.
    """
    most = np.max(offsets[start + 1 : stop + 1] - offsets[start:stop])
    block = np.empty((LANES, most), dtype=np.float32)
    error = np.empty(most, dtype=np.float32)  # w (1 - z) + beta s
    excess = np.empty(most, dtype=np.float32)  # w - beta
    share = np.empty(most, dtype=np.float32)  # w a
    score = np.empty(most, dtype=np.float32)
    for c in range(start, stop):
        first, n = offsets[c], offsets[c + 1] - offsets[c]
        row = labels[c]
        before = row.copy()  # v'_c
        overlap = dot(before, row)  # <v'_c, v_c>
        for f0 in range(0, labels.shape[1], LANES):
            excluded = F32(0)  # sum of w a (1 - z)
            excluded_steepness = F32(0)  # sum of w a^2
            for j in range(n):
                i, pair = column_images[first + j], column_pairs[first + j]
                a = F32(gamma / np.sqrt(degrees[i]))
                w = weights[pair]
                gather(block, j, users[i, f0 : f0 + LANES])
                excess[j] = w - beta[c]
                share[j] = w * a
                score[j] = scores[pair]
                error[j] = w * (F32(1) + a * overlap) - excess[j] * score[j]
                excluded += share[j] * (F32(1) - score[j] + a * overlap)
                excluded_steepness += share[j] * a
            for f in range(f0, f0 + LANES):
                x, old = block[f - f0], before[f]
                slope = -beta[c] * dot(row, hessian[f]) - ridge * row[f] - old * excluded
                steepness = beta[c] * hessian[f, f] + ridge + old * old * excluded_steepness
                mixed = F32(0)
                for j in range(n):
                    slope += error[j] * x[j]
                    steepness += excess[j] * x[j] * x[j]
                    mixed += share[j] * x[j]
                steepness -= F32(2) * old * mixed
                change = slope / steepness if steepness > 0 else F32(0)
                row[f] += change
                overlap += change * old
                excluded += change * (old * excluded_steepness - mixed)
                for j in range(n):
                    error[j] += change * (share[j] * old - excess[j] * x[j])
                    score[j] += change * x[j]
            for j in range(n):
                scores[column_pairs[first + j]] = score[j]


@njit(cache=True, fastmath=MATH, nogil=True)
def positive_loss(scores, weights, row_labels, offsets, beta, norms, gamma):
    """Return the sum over positives of w (1 - z)^2 - beta s^2 where v'_c = v_c."""
    total = 0.0
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        scale = gamma / np.sqrt(max(last - first, 1))
        for pair in range(first, last):
            c = row_labels[pair]
            miss = 1.0 - scores[pair] + scale * norms[c]
            total += weights[pair] * miss * miss - beta[c] * scores[pair] * scores[pair]
    return total
