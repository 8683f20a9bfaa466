"""The stochastic methods in plain NumPy and float64, written from the papers' formulas, one step after the other."""

import numpy as np


def draw_negative(positives, n_labels, rng):
    while True:
        label = rng.below(n_labels)
        if label not in positives:
            return label


def move(images, labels, i, p, n, push, shrink):
    """Step along push * d<v_i, v_p - v_n>, after shrinking."""
    image, positive, negative = images[i].copy(), labels[p].copy(), labels[n].copy()
    images[i] += push * (positive - negative) - shrink * image
    labels[p] += push * image - shrink * positive
    labels[n] += -push * image - shrink * negative


def positives_of(rows, i):
    return set(rows[i])


def opt_auc(images, labels, biases, pairs, rows, steps, rate, bias_rate, regularisation, for_positives, for_negatives):
    loss = 0.0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        n = draw_negative(positives_of(rows, i), len(labels), for_negatives)
        margin = images[i] @ (labels[p] - labels[n]) + biases[p] - biases[n]
        loss += np.log(1 + np.exp(-margin))
        move(images, labels, i, p, n, rate / (1 + np.exp(margin)), rate * regularisation)
        biases[[p, n]] += bias_rate * (np.array([1, -1]) / (1 + np.exp(margin)) - regularisation * biases[[p, n]])
    return loss / steps


def move_adagrad(images, labels, squares, i, p, n, weight, rate, regularisation):
    """Step along the same gradient minus the penalty's, each number at its own rate."""
    image, positive, negative = images[i].copy(), labels[p].copy(), labels[n].copy()
    for rows, sums, row, slope in (
        (images, squares[0], i, weight * (positive - negative) - regularisation * image),
        (labels, squares[1], p, weight * image - regularisation * positive),
        (labels, squares[1], n, -weight * image - regularisation * negative),
    ):
        sums[row] += slope**2
        rows[row] += rate * slope / np.sqrt(sums[row])


def move_bias(biases, squares, label, push, rate, regularisation):
    slope = push - regularisation * biases[label]
    squares[label] += slope**2
    biases[label] += rate * slope / np.sqrt(squares[label])


def warp(images, labels, biases, squares, pairs, rows, steps, cap, rate, regularisation, limit, *streams):
    for_positives, for_negatives = streams
    loss, total_trials = 0.0, 0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        negatives = len(labels) - len(rows[i])
        found = None
        trials = 0
        while found is None and trials < min(cap, negatives):
            n = draw_negative(positives_of(rows, i), len(labels), for_negatives)
            trials += 1
            if 1 + images[i] @ labels[n] + biases[n] > images[i] @ labels[p] + biases[p]:
                found = n
        total_trials += trials
        if found is not None:
            weight = sum(1 / j for j in range(1, negatives // trials + 1))
            loss += weight * (1 - images[i] @ labels[p] - biases[p] + images[i] @ labels[found] + biases[found])
            if squares is None:
                move(images, labels, i, p, found, rate * weight, rate * regularisation)
            else:
                move_adagrad(images, labels, squares, i, p, found, weight, rate, regularisation)
                move_bias(biases, squares[2], p, weight, rate, regularisation)
                move_bias(biases, squares[2], found, -weight, rate, regularisation)
            for row in (images[i], labels[p], labels[found]):
                if limit > 0 and np.linalg.norm(row) > limit:
                    row *= limit / np.linalg.norm(row)
    return loss / steps, total_trials / steps


def warp_published(images, labels, rows, steps, rate, regularisation, rng):
    loss, scanned = 0.0, 0
    for _ in range(steps):
        i = rng.below(len(images))
        if len(rows[i]) == 0:
            continue
        p = rows[i][rng.below(len(rows[i]))]
        scores = labels @ images[i]
        violators = [n for n in range(len(labels)) if n not in rows[i] and 1 + scores[n] > scores[p]]
        scanned += violators[0] + 1 if violators else len(labels)
        n = violators[0] if violators else draw_negative(positives_of(rows, i), len(labels), rng)
        margin = scores[p] - scores[n]
        loss += np.log(1 + np.exp(-margin))
        move(images, labels, i, p, n, rate / (1 + np.exp(margin)), rate * regularisation)
    return loss / steps, scanned / steps


def vse_ens(images, labels, pairs, rows, order, deviations, steps, scale, rate, regularisation, *streams):
    for_positives, for_negatives, for_negatives_again = streams
    loss = 0.0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        n = draw_adaptive(images[i], order, deviations, scale, for_negatives)
        while n in rows[i]:
            n = draw_adaptive(images[i], order, deviations, scale, for_negatives_again)
        violation = 1 - images[i] @ labels[p] + images[i] @ labels[n]
        if violation > 0:
            loss += violation
            move(images, labels, i, p, n, rate, rate * regularisation)
    return loss


def draw_adaptive(image, order, deviations, scale, rng):
    """Algorithm 1, lines 12 to 18; ranks count from 0."""
    n_labels = order.shape[1]
    rank = int(np.searchsorted(np.cumsum(rank_probabilities(scale, n_labels)), rng.uniform(), side="right"))
    weights = np.abs(image) * deviations
    f = int(np.searchsorted(np.cumsum(weights / weights.sum()), rng.uniform(), side="right"))
    return int(order[f, rank] if image[f] > 0 else order[f, n_labels - 1 - rank])


def rank_probabilities(scale, n_labels):
    weights = np.exp(-np.arange(n_labels) / scale)
    return weights / weights.sum()
