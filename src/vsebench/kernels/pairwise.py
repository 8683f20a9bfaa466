"""Stochastic steps on triples (image, positive label, negative label): Opt-AUC, WARP and VSE-ens.

All kernels update `images` (n_images, K) and `labels` (n_labels, K), both float32, in place; K is a multiple of 16
(factors that fill it up are 0 and stay 0). `row_labels` holds the labels of each image, in which a candidate negative
is looked up, and at its end 16 more numbers that mean nothing. Steps draw from `pairs` (n, 4) int32, one row an
occurrence (a label that an image carries twice stands there twice): image, label, and where the image's labels start
and end in `row_labels`. Where an image carries every label there is no negative, and the step is left out.

A step waits for memory much longer than it computes. What it will read and does not depend on the steps before, such
as the vectors of its image and its positive, is therefore asked for a batch ahead, a little between any two steps: a
processor waits for only so many lines of memory at a time. What leads there, a pair and the labels of its image, is
asked for in the batches before. To make that possible the draws of positives, of negatives, and of negatives again
where a positive was drawn, have a stream of random numbers each (`rng`: (3,) uint64).
"""

import numpy as np
from numba import njit

from vsebench.kernels.lanes import (
    LANES,
    MATH,
    absolute,
    add_products,
    count_bits,
    exceeding,
    fill,
    holds,
    load,
    no_sums,
    numbers,
    over,
    prefetch,
    root,
    running,
    scratch,
    store,
    total,
    transpose,
)
from vsebench.kernels.random import below, uniform
from vsebench.kernels.rounding import round_label_again, round_row

BATCH = 16  # steps, at most LANES; the vectors of two batches fit into the nearest cache
F32 = np.float32
ABOVE_ONE = F32(1 + 2**-20)  # makes up for the rounding of 1 + s(n)


@njit(cache=True, fastmath=MATH, inline="always")
def dot(images, i, labels, c):
    """<v_i, v_c>."""
    products = fill(F32(0))
    for f in range(0, images.shape[1], LANES):
        products = products + load(images, (i, f)) * load(labels, (c, f))
    return total(products)


@njit(cache=True, fastmath=MATH, inline="always")
def margin_of(images, i, labels, p, n):
    """<v_i, v_p - v_n>."""
    products = fill(F32(0))
    for f in range(0, images.shape[1], LANES):
        products = products + load(images, (i, f)) * (load(labels, (p, f)) - load(labels, (n, f)))
    return total(products)


@njit(cache=True, inline="always")
def ask_for(matrix, row):
    """Prefetch a row."""
    for f in range(0, matrix.shape[1], LANES):
        prefetch(matrix, (row, f))


@njit(cache=True, inline="always")
def contains(row_labels, first, last, label):
    """Tell whether the labels of an image, from `first` to `last`, hold a label."""
    found = False
    for j in range(first, last, LANES):
        found |= holds(row_labels, j, last - j, label)
    return found


@njit(cache=True, inline="always")
def draw_negative(row_labels, first, last, n_labels, rng):
    """Draw a label that is no positive, each with the same probability."""
    label = below(rng, n_labels)
    while contains(row_labels, first, last, label):
        label = below(rng, n_labels)
    return label


@njit(cache=True, inline="always")
def draw_candidates(labels, rng, candidates):
    """Draw labels, each with the same probability, and ask for their vectors."""
    for c in range(len(candidates)):
        candidates[c] = below(rng, len(labels))
        ask_for(labels, candidates[c])


@njit(cache=True, inline="always")
def batch_size(steps, first):
    """Return how many steps the batch has that begins with the step `first`, which may lie outside the epoch."""
    return max(min(BATCH, steps - first), 0) if first >= 0 else 0


@njit(cache=True, inline="always")
def prepare(t, n_reading, n_choosing, pairs, row_labels, rng, chosen, read):
    """Make draw `t` of two batches to come: read the pair that was chosen for one, and choose a pair for the next one.

    `chosen` (BATCH,) holds rows of `pairs`, `read` (BATCH, 4) takes what stands there. The pair and the labels of the
    image are asked for.
    """
    if t < n_reading:
        for column in range(4):
            read[t, column] = pairs[chosen[t], column]
        prefetch(row_labels, read[t, 2])
        for start in range(read[t, 2], read[t, 3], LANES):
            prefetch(row_labels, start + LANES - 1)
    if t < n_choosing:
        chosen[t] = below(rng, len(pairs))
        prefetch(pairs, (chosen[t], 0))


@njit(cache=True, fastmath=MATH, inline="always")
def step(images, i, labels, p, n, push, shrink):
    """Move along the gradient of <v_i, v_p - v_n>, scaled by `push`, after L2 shrinkage by `shrink`."""
    keep = F32(1) - shrink
    for f in range(0, images.shape[1], LANES):
        image, positive, negative = load(images, (i, f)), load(labels, (p, f)), load(labels, (n, f))
        store(images, (i, f), keep * image + push * (positive - negative))
        store(labels, (p, f), keep * positive + push * image)
        store(labels, (n, f), keep * negative - push * image)


@njit(cache=True, fastmath=MATH, inline="always")
def adagrad_step(
    images, image_squares, i, labels, label_squares, biases, bias_squares, p, n, weight, rate, regularisation
):
    """Move along the same gradient, scaled by `weight`, minus that of the L2 penalty; each number at its own rate.

    The scores are <v_i, v_c> + biases[c]. The squares are the sums of the squared gradients so far (Duchi et al., JMLR
    2011).
    """
    for f in range(0, images.shape[1], LANES):
        image, positive, negative = load(images, (i, f)), load(labels, (p, f)), load(labels, (n, f))
        slope = weight * (positive - negative) - regularisation * image
        adagrad(images, image_squares, i, f, image, slope, rate)
        adagrad(labels, label_squares, p, f, positive, weight * image - regularisation * positive, rate)
        adagrad(labels, label_squares, n, f, negative, -weight * image - regularisation * negative, rate)
    adagrad_bias(biases, bias_squares, p, weight, rate, regularisation)
    adagrad_bias(biases, bias_squares, n, -weight, rate, regularisation)


@njit(cache=True, fastmath=MATH, inline="always")
def adagrad(matrix, squares, row, f, value, slope, rate):
    """Move 16 numbers of a row, and count their squared gradients."""
    square = load(squares, (row, f)) + slope * slope
    store(squares, (row, f), square)
    store(matrix, (row, f), value + rate * over(slope, root(square)))


@njit(cache=True, fastmath=MATH, inline="always")
def adagrad_bias(biases, squares, label, push, rate, regularisation):
    """Do the same for the bias of a label."""
    slope = push - regularisation * biases[label]
    squares[label] += slope * slope
    biases[label] += rate * slope / np.sqrt(squares[label])


@njit(cache=True, fastmath=MATH, inline="always")
def project(matrix, row, limit):
    """Scale a row back to the norm `limit` if it is longer."""
    norm = np.sqrt(dot(matrix, row, matrix, row))
    if norm > limit:
        for f in range(0, matrix.shape[1], LANES):
            store(matrix, (row, f), (limit / norm) * load(matrix, (row, f)))


@njit(cache=True, inline="always")
def logistic(margin):
    """Return exp(-|margin|) and the size of the slope of log(1 + exp(-margin)), without overflow."""
    decay = np.exp(-abs(margin))
    return decay, (decay if margin > 0 else F32(1)) / (F32(1) + decay)


@njit(cache=True, fastmath=MATH, nogil=True)
def opt_auc_epoch(images, labels, biases, pairs, row_labels, steps, rate, bias_rate, regularisation, rng):
    """Take `steps` steps with a uniform negative and the logistic loss; return the mean loss.

    `biases` (n_labels,) are added to the scores; they move at the rate `bias_rate`.
    """
    shrink, bias_shrink = F32(rate * regularisation), F32(bias_rate * regularisation)
    positives, negatives = rng[:1], rng[1:2]
    chosen = np.empty(BATCH, dtype=np.int64)
    now, coming = np.empty((BATCH, 4), dtype=np.int64), np.empty((BATCH, 4), dtype=np.int64)
    later = np.empty((BATCH, 4), dtype=np.int64)
    drawn, drawing = np.empty(BATCH, dtype=np.int64), np.empty(BATCH, dtype=np.int64)
    loss = 0.0
    for first in range(-3 * BATCH, steps, BATCH):
        n_now, n_coming = batch_size(steps, first), batch_size(steps, first + BATCH)
        n_later, n_choosing = batch_size(steps, first + 2 * BATCH), batch_size(steps, first + 3 * BATCH)
        growth = 1.0  # the product of the 1 + exp(-|margin|): one logarithm a batch
        for t in range(BATCH):
            prepare(t, n_later, n_choosing, pairs, row_labels, positives, chosen, later)
            if t < n_coming:
                start, end = coming[t, 2], coming[t, 3]
                has_negative = end - start < len(labels)
                drawing[t] = draw_negative(row_labels, start, end, len(labels), negatives) if has_negative else -1
                ask_for(images, coming[t, 0])
                ask_for(labels, coming[t, 1])
                ask_for(labels, max(drawing[t], 0))
            i, p, n = now[t, 0], now[t, 1], drawn[t]
            if t >= n_now or n < 0:
                continue
            margin = margin_of(images, i, labels, p, n) + biases[p] - biases[n]
            decay, slope = logistic(margin)
            growth *= 1.0 + decay
            loss += max(-margin, F32(0))
            step(images, i, labels, p, n, F32(rate) * slope, shrink)
            biases[p] += F32(bias_rate) * slope - bias_shrink * biases[p]
            biases[n] -= F32(bias_rate) * slope + bias_shrink * biases[n]
        loss += np.log(growth)
        now, coming, later = coming, later, now
        drawn, drawing = drawing, drawn
    return loss / steps


@njit(cache=True, fastmath=MATH, nogil=True)
def warp_epoch(
    images,
    labels,
    biases,
    image_squares,
    label_squares,
    bias_squares,
    pairs,
    row_labels,
    harmonic,
    steps,
    cap,
    rate,
    regularisation,
    limit,
    rng,
):
    """Take `steps` WARP steps; return the mean loss and the mean number of trials.

    `harmonic[k]` is L(k), `cap` the most trials of a step; rows longer than `limit` are scaled back (0: never).
    `biases` (n_labels,) are added to the scores. The squares, of the shapes of `images`, `labels` and `biases`, are
    Adagrad's; where they have no rows all rates are the same, and the biases are left as they are. The
    candidates of the trials do not depend on the image, so they are drawn, and their vectors asked for, a batch ahead.
    """
    shrink = F32(rate * regularisation)
    positives, negatives = rng[:1], rng[1:2]
    chosen = np.empty(BATCH, dtype=np.int64)
    now, coming = np.empty((BATCH, 4), dtype=np.int64), np.empty((BATCH, 4), dtype=np.int64)
    candidates = np.empty(BATCH, dtype=np.int64)
    candidate = BATCH
    loss = 0.0
    total_trials = 0
    for first in range(-2 * BATCH, steps, BATCH):
        n_now, n_coming = batch_size(steps, first), batch_size(steps, first + BATCH)
        n_choosing = batch_size(steps, first + 2 * BATCH)
        for t in range(BATCH):
            prepare(t, n_coming, n_choosing, pairs, row_labels, positives, chosen, coming)
            if t < n_coming:
                ask_for(images, coming[t, 0])
                ask_for(labels, coming[t, 1])
                if len(image_squares):
                    ask_for(image_squares, coming[t, 0])
            if t >= n_now:
                continue
            i, p, start, end = now[t]
            n_negatives = len(labels) - (end - start)
            positive_score = dot(images, i, labels, p) + biases[p]
            trials = 0
            violation = F32(0)
            n = 0
            while violation <= 0 and trials < min(cap, n_negatives):
                if candidate == BATCH:
                    draw_candidates(labels, negatives, candidates)
                    candidate = 0
                n = candidates[candidate]
                candidate += 1
                if not contains(row_labels, start, end, n):
                    violation = F32(1) - positive_score + dot(images, i, labels, n) + biases[n]
                    trials += 1
            total_trials += trials
            if violation > 0:
                weight = harmonic[n_negatives // trials]
                loss += weight * violation
                if len(image_squares):
                    adagrad_step(
                        images, image_squares, i, labels, label_squares, biases, bias_squares, p, n,
                        F32(weight), F32(rate), F32(regularisation),
                    )  # fmt: skip
                else:
                    step(images, i, labels, p, n, F32(rate * weight), shrink)
                if limit > 0:
                    for matrix, row in ((images, i), (labels, p), (labels, n)):
                        project(matrix, row, F32(limit))
        now, coming = coming, now
    return loss / steps, total_trials / steps


@njit(cache=True, fastmath=MATH)
def first_violator(images, i, labels, row_labels, first, last, positive_score):
    """Return the first negative n in the order of label ids with 1 + s(n) > s(p), or the number of labels."""
    for label in range(len(labels)):
        violates = F32(1) + dot(images, i, labels, label) > positive_score
        if violates and not contains(row_labels, first, last, label):
            return label
    return len(labels)


@njit(cache=True, fastmath=MATH)
def first_violator_by_rounding(images, i, labels, row_labels, first, last, positive_score, rounded, whole):
    """Do the same: products of rounded vectors, of 64 labels at a time, pass over those that cannot violate.

    `rounded` is a `RoundedLabels`, `whole` (K,) int16 is room.
    """
    limit = F32((positive_score - ABOVE_ONE) * round_row(images, i, whole))
    bound = F32(rounded.bound)
    last_group = len(rounded.pairs) - 1
    for group in range(0, last_group + 1, 4):
        for g, sums in enumerate(four_products(whole, rounded.pairs, group, last_group)):
            start = min(group + g, last_group) * LANES
            possible = exceeding(numbers(sums) - limit * load(rounded.scales, start), -bound)
            if possible:
                for label in range(start, min(start + LANES, len(labels))):
                    if possible >> (label - start) & 1:
                        violates = F32(1) + dot(images, i, labels, label) > positive_score
                        if violates and not contains(row_labels, first, last, label):
                            return label
    return len(labels)


@njit(cache=True, inline="always")
def four_products(image, pairs, group, last_group):
    """Return the products of a rounded vector with those of four groups of 16 labels; the last one stands in for more.

    A processor waits for the sum before it adds to it; four sums keep it busy.
    """
    second, third = min(group + 1, last_group), min(group + 2, last_group)
    fourth = min(group + 3, last_group)
    a, b, c, d = no_sums(), no_sums(), no_sums(), no_sums()
    for pair in range(pairs.shape[1]):
        a = add_products(a, image, 2 * pair, pairs, (group, pair, 0))
        b = add_products(b, image, 2 * pair, pairs, (second, pair, 0))
        c = add_products(c, image, 2 * pair, pairs, (third, pair, 0))
        d = add_products(d, image, 2 * pair, pairs, (fourth, pair, 0))
    return a, b, c, d


@njit(cache=True, fastmath=MATH, nogil=True)
def warp_published_epoch(images, labels, rounded, offsets, row_labels, steps, rate, regularisation, rng):
    """Take `steps` steps as the published WARP code does; return the mean loss and the mean number of labels scanned.

    An image is drawn uniformly, then one of its labels; the labels are scanned in the order of their ids up to the
    first negative n with 1 + s(n) > s(p), or a random negative is taken where there is none. `rounded` is a
    `RoundedLabels` of the labels, whose pairs and scales are kept up to date, or has no pairs: then every score is
    computed.
    """
    shrink = F32(rate * regularisation)
    whole = np.empty(images.shape[1], dtype=np.int16)
    loss = 0.0
    scanned = 0
    for _ in range(steps):
        i = below(rng, len(images))
        start, end = offsets[i], offsets[i + 1]
        if end == start or end - start == len(labels):
            continue
        p = np.int64(row_labels[start + below(rng, end - start)])
        positive_score = dot(images, i, labels, p)
        if len(rounded.pairs):
            n = first_violator_by_rounding(images, i, labels, row_labels, start, end, positive_score, rounded, whole)
        else:
            n = first_violator(images, i, labels, row_labels, start, end, positive_score)
        scanned += min(n + 1, len(labels))
        if n == len(labels):
            n = draw_negative(row_labels, start, end, len(labels), rng)
        margin = positive_score - dot(images, i, labels, n)
        decay, slope = logistic(margin)
        loss += np.log1p(decay) + max(-margin, F32(0))
        step(images, i, labels, p, n, F32(rate) * slope, shrink)
        if len(rounded.pairs):
            round_label_again(rounded, labels, p, whole)
            round_label_again(rounded, labels, n, whole)
    return loss / steps, scanned / steps


@njit(cache=True, inline="always")
def draw_rank(scale, span, n_labels, rng):
    """Draw r from 0 to n_labels - 1 with probability proportional to exp(-r / scale).

    `span` is exp(-n_labels / scale) - 1.
    """
    rank = -scale * np.log(1.0 + uniform(rng) * span)
    return min(np.int64(rank), n_labels - 1)


@njit(cache=True, fastmath=MATH, inline="always")
def weigh_factors(images, i, deviations, sums):
    """Prepare `find_factor`: write running sums of the |v_if| sigma_f into `sums`, K + 32 float32.

    The factors f, f + 16, f + 32, ... are a lane. The first K numbers become the running sums in each lane, then come
    16 of which the last is 0, then the running sums of the lanes' totals.
    """
    n_factors = images.shape[1]
    lane_sums = fill(F32(0))
    for f in range(0, n_factors, LANES):
        lane_sums = lane_sums + absolute(load(images, (i, f))) * load(deviations, f)
        store(sums, f, lane_sums)
    store(sums, n_factors + LANES, running(lane_sums))


@njit(cache=True, fastmath=MATH, inline="always")
def find_factor(sums, share):
    """Return a factor f with probability proportional to |v_if| sigma_f.

    `sums` is what `weigh_factors` wrote, `share` is uniform in [0, 1). A lane is found, then a factor in it. Counting
    the sums that are passed needs no branch that the processor could mispredict. Rounding may lead beyond the last
    factor of weight above 0; callers have to expect that.
    """
    n_factors = len(sums) - 2 * LANES
    rest = F32(share) * sums[-1]
    lane = LANES - count_bits(exceeding(load(sums, n_factors + LANES), rest))
    rest -= sums[n_factors + LANES + lane - 1]
    factor = min(lane, LANES - 1)
    for f in range(factor, n_factors, LANES):
        factor += LANES * (sums[f] <= rest)
    return factor


@njit(cache=True, inline="always")
def find_place(images, i, order, sums, rank, share):
    """Return the factor and the place in its list that a rank and a share lead to (Algorithm 1, lines 12 to 17)."""
    n_factors, n_labels = order.shape
    f = min(find_factor(sums, share), n_factors - 1)
    return f, (rank if images[i, f] > 0 else n_labels - 1 - rank)


@njit(cache=True, nogil=True)
def draw_adaptive_again(images, i, row_labels, first, last, order, sums, scale, span, rng):
    """Draw a negative from the lists of VSE-ens after a positive was drawn, again while it is a positive.

    `sums` is what `weigh_factors` wrote for the image. After as many draws as there are labels the positives must hold
    nearly all of the probability, and a uniform negative is taken.
    """
    n_labels = order.shape[1]
    for _ in range(n_labels):
        rank = draw_rank(scale, span, n_labels, rng)
        label = np.int64(order[find_place(images, i, order, sums, rank, uniform(rng))])
        if not contains(row_labels, first, last, label):
            return label
    return draw_negative(row_labels, first, last, n_labels, rng)


@njit(cache=True, inline="always")
def first_repeat(images, start, stop):
    """Return the first place behind `start` whose image stands in a place since `start` already, or `stop`."""
    for t in range(start + 1, stop):
        if holds(images, start, t - start, images[t]):
            return t
    return stop


@njit(cache=True, fastmath=MATH, nogil=True)
def vse_ens_epoch(images, labels, pairs, row_labels, order, deviations, steps, scale, rate, regularisation, rng):
    """Take `steps` steps between two refreshes of the lists, with the hinge loss; return the sum of the losses.

    A negative depends on the vector of its image alone. So for several steps, as long as no image comes twice among
    them, all factors are weighed, then all places in lists are found, then all negatives there, and then the steps are
    taken: by the time that something is read it has been written or asked for. Images need not be asked for: weighing
    the factors of one does not wait for those of another.
    """
    shrink = F32(rate * regularisation)
    span = np.expm1(-len(labels) / scale)
    positives, negatives, again = rng[:1], rng[1:2], rng[2:]
    chosen = np.empty(BATCH, dtype=np.int64)
    now, coming = np.empty((BATCH, 4), dtype=np.int64), np.empty((BATCH, 4), dtype=np.int64)
    ranks, shares = np.empty(BATCH, dtype=np.int64), np.empty(BATCH)
    found = np.empty((BATCH, 2), dtype=np.int64)
    drawn = np.empty(BATCH, dtype=np.int64)
    drawn_images = np.empty(BATCH + LANES, dtype=np.int32)
    sums = scratch(BATCH * (images.shape[1] + 2 * LANES)).reshape(BATCH, -1)
    loss = 0.0
    for first in range(-2 * BATCH, steps, BATCH):
        n_now, n_coming = batch_size(steps, first), batch_size(steps, first + BATCH)
        n_choosing = batch_size(steps, first + 2 * BATCH)
        for t in range(n_now):
            drawn_images[t] = now[t, 0]
            ranks[t] = draw_rank(scale, span, len(labels), negatives)
            shares[t] = uniform(negatives)
        start = 0
        while start < n_now:
            stop = first_repeat(drawn_images, start, n_now)
            for t in range(start, stop):
                weigh_factors(images, now[t, 0], deviations, sums[t])
            for t in range(start, stop):
                f, at = find_place(images, now[t, 0], order, sums[t], ranks[t], shares[t])
                found[t, 0], found[t, 1] = f, at
                prefetch(order, (f, at))
            for t in range(start, stop):
                i, _, row, end = now[t]
                drawn[t] = order[found[t, 0], found[t, 1]]
                if end - row == len(labels):
                    drawn[t] = -1
                elif contains(row_labels, row, end, drawn[t]):
                    drawn[t] = draw_adaptive_again(images, i, row_labels, row, end, order, sums[t], scale, span, again)
                ask_for(labels, max(drawn[t], 0))
            for t in range(start, stop):
                prepare(t, n_coming, n_choosing, pairs, row_labels, positives, chosen, coming)
                i, p, n = now[t, 0], now[t, 1], drawn[t]
                if n < 0:
                    continue
                violation = F32(1) - margin_of(images, i, labels, p, n)
                if violation > 0:
                    loss += violation
                    step(images, i, labels, p, n, F32(rate), shrink)
            start = stop
        for t in range(n_now, BATCH):
            prepare(t, n_coming, n_choosing, pairs, row_labels, positives, chosen, coming)
        now, coming = coming, now
    return loss


@njit(cache=True, nogil=True)
def refresh_lists(start, stop, labels, order, deviations):
    """Make the lists of the factors from `start` to `stop`, multiples of 16.

    The labels by descending value of a factor go to `order` (n_factors, n_labels) of whole numbers, the standard
    deviation over labels (Eq. 8) to `deviations` (K,) float32; `order` may leave out the factors that fill up K.
    """
    n_factors, n_labels = order.shape
    tile = scratch(LANES * LANES).reshape(LANES, LANES)
    room = n_labels // LANES * LANES + LANES
    columns = scratch(LANES * room).reshape(LANES, room)  # the labels' values of 16 factors
    keys, other = np.empty(n_labels, dtype=np.uint32), np.empty(n_labels, dtype=order.dtype)
    for f0 in range(start, stop, LANES):
        for label in range(0, n_labels, LANES):
            for row in range(min(LANES, n_labels - label)):
                store(tile, (row, 0), load(labels, (label + row, f0)))
            transpose(tile, (0, 0))
            for f in range(LANES):
                store(columns, (f, label), load(tile, (f, 0)))
        for f in range(f0, min(f0 + LANES, n_factors)):
            column = columns[f - f0, :n_labels]
            deviations[f] = deviation(column)
            descending_keys(column, keys)
            sort_keys(keys, order[f], other)


@njit(cache=True, fastmath=MATH, inline="always")
def deviation(values):
    """Standard deviation."""
    whole = len(values) // LANES * LANES
    sums, squares = fill(F32(0)), fill(F32(0))
    for j in range(0, whole, LANES):
        sums = sums + load(values, j)
    mean = total(sums)
    for j in range(whole, len(values)):
        mean += values[j]
    mean /= F32(len(values))
    for j in range(0, whole, LANES):
        difference = load(values, j) - fill(mean)
        squares = squares + difference * difference
    square = total(squares)
    for j in range(whole, len(values)):
        square += (values[j] - mean) ** 2
    return np.sqrt(square / F32(len(values)))


@njit(cache=True, inline="always")
def descending_keys(values, keys):
    """Map float32 to uint32 so that ascending keys mean descending values."""
    bits = values.view(np.uint32)
    sign = np.uint32(0x80000000)
    for j in range(len(values)):
        # A positive float's bits ascend with its value, a negative one's descend.
        keys[j] = bits[j] if bits[j] & sign else ~(bits[j] | sign)


@njit(cache=True)
def sort_keys(keys, order, other):
    """Write the stable order of ascending `keys` (uint32); `other` is room for as many.

    Two passes of a radix sort by the upper 22 bits (16 for few keys) leave few neighbours in the wrong order, which an
    insertion sort puts right.
    """
    bits = 8 if len(keys) <= 1024 else 11
    mask, low, high = np.uint32((1 << bits) - 1), np.uint32(32 - 2 * bits), np.uint32(32 - bits)
    low_starts, high_starts = np.zeros((1 << bits) + 1, dtype=np.int32), np.zeros((1 << bits) + 1, dtype=np.int32)
    for j in range(len(keys)):
        low_starts[((keys[j] >> low) & mask) + 1] += 1
        high_starts[(keys[j] >> high) + 1] += 1
    for value in range(1 << bits):
        low_starts[value + 1] += low_starts[value]
        high_starts[value + 1] += high_starts[value]
    for j in range(len(keys)):
        place(j, (keys[j] >> low) & mask, low_starts, other)
    for j in range(len(keys)):
        place(other[j], keys[other[j]] >> high, high_starts, order)
    highest = np.uint32(0)
    for j in range(len(keys)):
        label, at = order[j], j
        if keys[label] >= highest:
            highest = keys[label]
            continue
        while at > 0 and keys[order[at - 1]] > keys[label]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = label


@njit(cache=True, inline="always")
def place(j, digit, starts, target):
    """Put j where the next key with its digit belongs."""
    target[starts[digit]] = j
    starts[digit] += 1
