"""WARP in plain NumPy and float64, one step after the other: with trials, with Adagrad and biases, and as published."""

import numpy as np

from tests.reference.adagrad import adagrad_step
from tests.reference.steps import draw_negative, sgd_step


def find_violator(scores, positives, p, maximum, rng):
    """Draw negatives until one scores above s_p - 1; return it, or none, and how many were drawn."""
    trials = 0
    while trials < min(maximum, len(scores) - len(positives)):
        n = draw_negative(positives, len(scores), rng)
        trials += 1
        if 1 + scores[n] > scores[p]:
            return n, trials
    return None, trials


def rank_loss(n_negatives, trials):
    return sum(1 / j for j in range(1, n_negatives // trials + 1))


def warp(images, labels, rows, pairs, steps, maximum, rate, regularisation, max_norm, for_positives, for_negatives):
    loss, total_trials = 0.0, 0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        scores = labels @ images[i]
        n, trials = find_violator(scores, rows[i], p, maximum, for_negatives)
        total_trials += trials
        if n is None:
            continue
        weight = rank_loss(len(labels) - len(rows[i]), trials)
        loss += weight * (1 - scores[p] + scores[n])
        sgd_step(images, labels, i, p, n, rate * weight, rate * regularisation)
        for vector in (images[i], labels[p], labels[n]):
            if max_norm > 0 and np.linalg.norm(vector) > max_norm:
                vector *= max_norm / np.linalg.norm(vector)
    return loss / steps, total_trials / steps


def warp_adaptive(images, labels, biases, squares, rows, pairs, steps, maximum, rate, regularisation, *rngs):
    for_positives, for_negatives = rngs
    loss, total_trials = 0.0, 0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        scores = labels @ images[i] + biases
        n, trials = find_violator(scores, rows[i], p, maximum, for_negatives)
        total_trials += trials
        if n is None:
            continue
        weight = rank_loss(len(labels) - len(rows[i]), trials)
        loss += weight * (1 - scores[p] + scores[n])
        adagrad_step(images, labels, biases, squares, i, p, n, weight, rate, regularisation)
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
        n = violators[0] if violators else draw_negative(rows[i], len(labels), rng)
        margin = scores[p] - scores[n]
        loss += np.log(1 + np.exp(-margin))
        sgd_step(images, labels, i, p, n, rate / (1 + np.exp(margin)), rate * regularisation)
    return loss / steps, scanned / steps
