"""The steps that VSE-ens's code calls WARP: the negative is the one with the lowest id that violates the margin."""

import numpy as np
from numba import njit

from vsebench.kernels.products import dot, rounded_products
from vsebench.kernels.random_numbers import below
from vsebench.kernels.ranking.rounding import round_row, update_label
from vsebench.kernels.sgd.sampling import contains, draw_negative
from vsebench.kernels.sgd.steps import logistic, sgd_step
from vsebench.kernels.vectors import FASTMATH, LANES, greater_mask, load, to_float

ABOVE_ONE = np.float32(1 + 2**-20)  # slightly above 1, to allow for the rounding of 1 + score


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def warp_published_epoch(embedding, rounded_labels, offsets, row_labels, steps, rates, rng):
    """Take `steps` steps that lower the logistic loss, each on the first negative that violates the margin.

    An image i is drawn uniformly, then one of its labels, p. The negative n is the one with the lowest id for which
    1 + <v_i, v_n> > <v_i, v_p>. If there is none, n is a random negative. The loss is log(1 + exp(-m)), where
    m = <v_i, v_p - v_n>. The step adds eta (1 / (1 + exp(m)) dm/dv - lambda v) to each vector v of v_i, v_p and v_n.
    Images with no label or with every label are skipped.

    rounded_labels : `RoundedLabels` of the labels, whose `pairs` and `scales` are updated. With `NOT_ROUNDED`, all
        scores are computed in float32; the result is the same.
    offsets : (n_images + 1,) int64, where each image's labels start in `row_labels`
    rates : `Rates`, which contain eta and lambda

    Returns the mean loss of the steps and the mean number of labels scanned, float64.
    """
    images, labels = embedding
    shrinkage = np.float32(rates.learning_rate * rates.regularisation)
    rounded_image = np.empty((1, images.shape[1]), dtype=np.int16)
    loss = 0.0
    scanned = 0
    for _ in range(steps):
        i = below(rng, len(images))
        start, stop = offsets[i], offsets[i + 1]
        if stop == start or stop - start == len(labels):
            continue
        p = np.int64(row_labels[start + below(rng, stop - start)])
        positive_score = dot(images, i, labels, p)
        if len(rounded_labels.pairs):
            n = first_violator_by_rounding(
                embedding, i, row_labels, start, stop, positive_score, rounded_labels, rounded_image
            )
        else:
            n = first_violator(embedding, i, row_labels, start, stop, positive_score)
        scanned += min(n + 1, len(labels))
        if n == len(labels):
            n = draw_negative(row_labels, start, stop, len(labels), rng)
        m = positive_score - dot(images, i, labels, n)
        decay, slope = logistic(m)
        loss += np.log1p(decay) + max(-m, np.float32(0))
        sgd_step(embedding, i, p, n, np.float32(rates.learning_rate) * slope, shrinkage)
        if len(rounded_labels.pairs):
            update_label(rounded_labels, labels, p, rounded_image[0])
            update_label(rounded_labels, labels, n, rounded_image[0])
    return loss / steps, scanned / steps


@njit(cache=True, fastmath=FASTMATH)
def first_violator(embedding, i, row_labels, start, stop, positive_score):
    """Return the lowest id of a negative of image i that violates the margin: 1 + score > `positive_score`.

    If there is none, return the number of labels.
    """
    images, labels = embedding
    for label in range(len(labels)):
        violates = np.float32(1) + dot(images, i, labels, label) > positive_score
        if violates and not contains(row_labels, start, stop, label):
            return label
    return len(labels)


@njit(cache=True, fastmath=FASTMATH)
def first_violator_by_rounding(embedding, i, row_labels, start, stop, positive_score, rounded_labels, rounded_image):
    """Return the same as `first_violator`, but compute fewer scores.

    Products of rounded vectors, of 64 labels at a time, rule out labels. The scores of these labels are not computed.

    rounded_image : (1, K) int16, scratch memory
    """
    images, labels = embedding
    limit = np.float32((positive_score - ABOVE_ONE) * round_row(images, i, rounded_image[0]))
    bound = np.float32(rounded_labels.bound)
    last = len(rounded_labels.pairs) - 1
    for group in range(0, last + 1, 4):
        # Beyond the last group, the last group is used again.
        groups = (group, min(group + 1, last), min(group + 2, last), min(group + 3, last))
        for g, products in enumerate(rounded_products(rounded_image, (0, 0, 0, 0), rounded_labels.pairs, groups)):
            first = min(group + g, last) * LANES
            possible = greater_mask(to_float(products) - limit * load(rounded_labels.scales, first), -bound)
            if possible:
                for label in range(first, min(first + LANES, len(labels))):
                    if possible >> (label - first) & 1:
                        violates = np.float32(1) + dot(images, i, labels, label) > positive_score
                        if violates and not contains(row_labels, start, stop, label):
                            return label
    return len(labels)
