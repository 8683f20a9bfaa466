"""Stochastic steps on triples (image, positive label, negative label): Opt-AUC, WARP and VSE-ens.

All kernels update `images` (n_images, K) and `labels` (n_labels, K), both float32, in place. The positives come twice:
as one entry an occurrence (`pair_image`, `pair_label`: int32, a label that an image carries twice stands there twice),
from which steps draw, and by rows (`offsets`, `row_labels`), in which a candidate negative is looked up.
Where an image carries every label there is no negative, and the step is left out.
"""

import numpy as np
from numba import njit

from vsebench.kernels.lanes import MATH
from vsebench.kernels.random import below, uniform

F32 = np.float32


@njit(cache=True, fastmath=MATH, inline="always")
def dot(a, b):
    """Inner product of two rows."""
    total = F32(0)
    for f in range(len(a)):
        total += a[f] * b[f]
    return total


@njit(cache=True, inline="always")
def contains(row, label):
    """Tell whether a row of positives holds a label."""
    found = False
    for known in row:
        found |= known == label
    return found


@njit(cache=True, inline="always")
def draw_negative(row, n_labels, rng):
    """Draw a label that is no positive, each with the same probability."""
    label = below(rng, n_labels)
    while contains(row, label):
        label = below(rng, n_labels)
    return label


@njit(cache=True, fastmath=MATH, inline="always")
def step(image, positive, negative, push, shrink):
    """Move along the gradient of <image, positive - negative>, scaled by `push`, after L2 shrinkage by `shrink`."""
    for f in range(len(image)):
        x, p, n = image[f], positive[f], negative[f]
        image[f] = x + push * (p - n) - shrink * x
        positive[f] = p + push * x - shrink * p
        negative[f] = n - push * x - shrink * n


@njit(cache=True, fastmath=MATH, inline="always")
def project(row, limit):
    """Scale a row back to the norm `limit` if it is longer."""
    norm = np.sqrt(dot(row, row))
    if norm > limit:
        scale = limit / norm
        for f in range(len(row)):
            row[f] *= scale


@njit(cache=True, inline="always")
def logistic(margin):
    """Return the loss log(1 + exp(-margin)) and the size of its slope, without overflow."""
    decay = np.exp(-abs(margin))
    if margin > 0:
        return np.log1p(decay), decay / (1.0 + decay)
    return np.log1p(decay) - margin, 1.0 / (1.0 + decay)


@njit(cache=True, fastmath=MATH, nogil=True)
def opt_auc_epoch(images, labels, pair_image, pair_label, offsets, row_labels, steps, rate, regularisation, rng):
    """Take `steps` steps with a uniform negative and the logistic loss; return the mean loss."""
    shrink = F32(rate * regularisation)
    loss = 0.0
    for _ in range(steps):
        pair = below(rng, len(pair_image))
        i, p = pair_image[pair], pair_label[pair]
        row = row_labels[offsets[i] : offsets[i + 1]]
        if len(row) == len(labels):
            continue
        n = draw_negative(row, len(labels), rng)
        pair_loss, slope = logistic(np.float64(dot(images[i], labels[p]) - dot(images[i], labels[n])))
        loss += pair_loss
        step(images[i], labels[p], labels[n], F32(rate * slope), shrink)
    return loss / steps


@njit(cache=True, fastmath=MATH, nogil=True)
def warp_epoch(
    images, labels, pair_image, pair_label, offsets, row_labels, harmonic, steps, cap, rate, regularisation, limit, rng
):
    """Take `steps` WARP steps; return the mean loss and the mean number of trials.

    `harmonic[k]` is L(k), `cap` the most trials of a step; rows longer than `limit` are scaled back (0: never).
    """
    shrink = F32(rate * regularisation)
    loss = 0.0
    total_trials = 0
    for _ in range(steps):
        pair = below(rng, len(pair_image))
        i, p = pair_image[pair], pair_label[pair]
        row = row_labels[offsets[i] : offsets[i + 1]]
        n_negatives = len(labels) - len(row)
        positive_score = dot(images[i], labels[p])
        trials = 0
        violation = F32(0)
        n = 0
        while violation <= 0 and trials < min(cap, n_negatives):
            n = draw_negative(row, len(labels), rng)
            violation = F32(1) - positive_score + dot(images[i], labels[n])
            trials += 1
        total_trials += trials
        if violation > 0:
            weight = harmonic[n_negatives // trials]
            loss += weight * violation
            step(images[i], labels[p], labels[n], F32(rate * weight), shrink)
            if limit > 0:
                project(images[i], limit)
                project(labels[p], limit)
                project(labels[n], limit)
    return loss / steps, total_trials / steps


@njit(cache=True, fastmath=MATH, nogil=True)
def warp_published_epoch(images, labels, offsets, row_labels, steps, rate, regularisation, rng):
    """Take `steps` steps as the published WARP code does; return the mean loss and the mean number of labels scanned.

    An image is drawn uniformly, then one of its labels; the labels are scanned in the order of their ids up to the
    first negative n with 1 + s(n) > s(p), or a random negative is taken where there is none.
    """
    shrink = F32(rate * regularisation)
    loss = 0.0
    scanned = 0
    for _ in range(steps):
        i = below(rng, len(images))
        row = row_labels[offsets[i] : offsets[i + 1]]
        if len(row) == 0 or len(row) == len(labels):
            continue
        p = row[below(rng, len(row))]
        positive_score = dot(images[i], labels[p])
        n = -1
        negative_score = F32(0)
        for label in range(len(labels)):
            scanned += 1
            negative_score = dot(images[i], labels[label])
            if F32(1) + negative_score > positive_score and not contains(row, label):
                n = label
                break
        if n < 0:
            n = draw_negative(row, len(labels), rng)
            negative_score = dot(images[i], labels[n])
        pair_loss, slope = logistic(np.float64(positive_score - negative_score))
        loss += pair_loss
        step(images[i], labels[p], labels[n], F32(rate * slope), shrink)
    return loss / steps, scanned / steps


@njit(cache=True, inline="always")
def draw_rank(scale, n_labels, rng):
    """Draw r from 0 to n_labels - 1 with probability proportional to exp(-r / scale)."""
    u = uniform(rng)
    rank = -scale * np.log1p(u * np.expm1(-n_labels / scale))
    return min(np.int64(rank), n_labels - 1)


@njit(cache=True, fastmath=MATH, inline="always")
def draw_factor(image, deviations, weights, rng):
    """Draw a factor f with probability proportional to |v_if| sigma_f; `weights` is room for K float32."""
    total = F32(0)
    for f in range(len(image)):
        weights[f] = abs(image[f]) * deviations[f]
        total += weights[f]
    rest = F32(uniform(rng)) * total
    for f in range(len(image)):
        rest -= weights[f]
        if rest < 0:
            return f
    return len(image) - 1


@njit(cache=True, inline="always")
def draw_adaptive_negative(image, row, order, deviations, scale, weights, rng):
    """Draw a negative from the lists of VSE-ens (Algorithm 1, lines 12 to 18), again while it is a positive.

    `order[f]` lists the labels by descending value of factor f. After as many draws as there are labels the positives
    must hold nearly all of the probability, and a uniform negative is taken.
    """
    n_labels = order.shape[1]
    for _ in range(n_labels):
        rank = draw_rank(scale, n_labels, rng)
        f = draw_factor(image, deviations, weights, rng)
        label = np.int64(order[f, rank] if image[f] > 0 else order[f, n_labels - 1 - rank])
        if not contains(row, label):
            return label
    return draw_negative(row, n_labels, rng)


@njit(cache=True, fastmath=MATH, nogil=True)
def vse_ens_epoch(
    images,
    labels,
    pair_image,
    pair_label,
    offsets,
    row_labels,
    order,
    deviations,
    steps,
    scale,
    rate,
    regularisation,
    rng,
):
    """Take `steps` steps between two refreshes of the lists, with the hinge loss; return the sum of the losses."""
    shrink = F32(rate * regularisation)
    weights = np.empty(images.shape[1], dtype=np.float32)
    loss = 0.0
    for _ in range(steps):
        pair = below(rng, len(pair_image))
        i, p = pair_image[pair], pair_label[pair]
        row = row_labels[offsets[i] : offsets[i + 1]]
        if len(row) == len(labels):
            continue
        n = draw_adaptive_negative(images[i], row, order, deviations, scale, weights, rng)
        violation = F32(1) - dot(images[i], labels[p]) + dot(images[i], labels[n])
        if violation > 0:
            loss += violation
            step(images[i], labels[p], labels[n], F32(rate), shrink)
    return loss


@njit(cache=True, nogil=True)
def refresh_lists(labels, order, deviations):
    """Sort the labels by each factor, largest first, into `order` (K, n_labels) int32, and find each factor's spread.

    `deviations` (K,) float32 becomes the standard deviation over labels (Eq. 8).
    """
    n_labels, n_factors = labels.shape
    column = np.empty(n_labels, dtype=np.float32)
    keys = np.empty(n_labels, dtype=np.uint32)
    for f in range(n_factors):
        for label in range(n_labels):
            column[label] = labels[label, f]
        deviations[f] = deviation(column)
        descending_keys(column, keys)
        radix_sort(keys, order[f])


@njit(cache=True, fastmath=MATH, inline="always")
def deviation(values):
    """Standard deviation, summed in float64."""
    mean = 0.0
    for value in values:
        mean += value
    mean /= len(values)
    squares = 0.0
    for value in values:
        squares += (value - mean) ** 2
    return np.sqrt(squares / len(values))


@njit(cache=True, inline="always")
def descending_keys(values, keys):
    """Map float32 to uint32 so that ascending keys mean descending values."""
    bits = values.view(np.uint32)
    sign = np.uint32(0x80000000)
    for j in range(len(values)):
        # A positive float's bits ascend with its value, a negative one's descend.
        keys[j] = bits[j] if bits[j] & sign else ~(bits[j] | sign)


@njit(cache=True)
def radix_sort(keys, order):
    """Write the stable order of ascending `keys` (uint32), four passes of eight bits."""
    n = len(keys)
    starts = np.empty(257, dtype=np.int64)
    source, target = order, np.empty(n, dtype=np.int32)
    for j in range(n):
        source[j] = j
    for shift in (0, 8, 16, 24):
        starts[:] = 0
        for j in range(n):
            starts[((keys[j] >> np.uint32(shift)) & np.uint32(255)) + 1] += 1
        for digit in range(256):
            starts[digit + 1] += starts[digit]
        for j in range(n):
            digit = (keys[source[j]] >> np.uint32(shift)) & np.uint32(255)
            target[starts[digit]] = source[j]
            starts[digit] += 1
        source, target = target, source  # after four passes the result is back in `order`
