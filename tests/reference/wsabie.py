"""WSABIE, linear ranking, one-vs-rest and OWPC-SGD in plain NumPy and float64, one step after the other."""

import numpy as np

from tests.reference.steps import draw_negative
from tests.reference.warp import find_violator, rank_loss


def project(rows, max_norm):
    for row in rows:
        length = np.linalg.norm(row)
        if max_norm > 0 and length > max_norm:
            row *= max_norm / length


def wsabie_step(features, labels, x, p, n, size, max_norm):
    """Algorithm 1: all right-hand sides are values from before the step."""
    image, difference = features.T @ x, labels[p] - labels[n]
    labels[p] += size * image
    labels[n] -= size * image
    features += size * np.outer(x, difference)
    project([labels[p], labels[n], *(features[j] for j in np.flatnonzero(x))], max_norm)


def wsabie(features, labels, rows, labels_of, pairs, steps, maximum, weigh, rate, max_norm, for_positives, rng):
    """`weigh` gives the weight of a step from the number of negatives and of trials."""
    loss, total_trials = 0.0, 0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        scores = labels @ (features.T @ rows[i])
        n, trials = find_violator(scores, labels_of[i], p, maximum, rng)
        total_trials += trials
        if n is not None:
            weight = weigh(len(labels) - len(labels_of[i]), trials)
            loss += weight * (1 - scores[p] + scores[n])
            wsabie_step(features, labels, rows[i], p, n, rate * weight, max_norm)
    return loss / steps, total_trials / steps


def linear(weights, rows, labels_of, pairs, steps, maximum, weigh, rate, for_positives, rng):
    loss, total_trials = 0.0, 0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        scores = weights @ rows[i]
        n, trials = find_violator(scores, labels_of[i], p, maximum, rng)
        total_trials += trials
        if n is not None:
            weight = weigh(len(weights) - len(labels_of[i]), trials)
            loss += weight * (1 - scores[p] + scores[n])
            weights[p] += rate * weight * rows[i]
            weights[n] -= rate * weight * rows[i]
    return loss / steps, total_trials / steps


def passive_aggressive(weights, rows, labels_of, pairs, steps, aggressiveness, for_positives, rng):
    loss = 0.0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        n = draw_negative(labels_of[i], len(weights), rng)
        hinge = 1 - (weights[p] - weights[n]) @ rows[i]
        if hinge > 0:
            loss += hinge
            square = rows[i] @ rows[i]
            tau = min(aggressiveness, hinge / (2 * square)) if square > 0 else aggressiveness
            weights[p] += tau * rows[i]
            weights[n] -= tau * rows[i]
    return loss / steps


def one_vs_rest(weights, rows, labels_of, order, aggressiveness):
    """`weights` (n_labels, d) belong to `rows` (n, d), which hold the constant feature."""
    loss = 0.0
    for i in order:
        target = -np.ones(len(weights))
        target[labels_of[i]] = 1
        hinge = np.maximum(0, 1 - target * (weights @ rows[i]))
        loss += hinge.sum()
        tau = np.minimum(aggressiveness, hinge / (rows[i] @ rows[i]))
        weights += np.outer(tau * target, rows[i])
    return loss / (len(order) * len(weights))


def owpc(features, labels, rows, labels_of, pairs, steps, rate, max_norm, for_positives):
    loss = 0.0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        image = features.T @ rows[i]
        scores = labels @ image
        violators = [n for n in range(len(labels)) if n not in labels_of[i] and scores[n] > scores[p] - 1]
        k = len(violators)
        if k == 0:
            continue
        weight = rank_loss(k, 1) / k
        loss += weight * sum(1 - scores[p] + scores[n] for n in violators)
        features += rate * weight * np.outer(rows[i], k * labels[p] - labels[violators].sum(axis=0))
        labels[violators] -= rate * weight * image
        labels[p] += rate * weight * k * image
        project([labels[p], *(labels[n] for n in violators), *(features[j] for j in np.flatnonzero(rows[i]))], max_norm)
    return loss / steps
