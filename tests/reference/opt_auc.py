"""Opt-AUC in plain NumPy and float64, one step after the other."""

import numpy as np

from tests.reference.steps import draw_negative, sgd_step


def opt_auc(images, labels, rows, pairs, steps, rate, regularisation, for_positives, for_negatives):
    loss = 0.0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        n = draw_negative(rows[i], len(labels), for_negatives)
        margin = images[i] @ (labels[p] - labels[n])
        loss += np.log(1 + np.exp(-margin))
        sgd_step(images, labels, i, p, n, rate / (1 + np.exp(margin)), rate * regularisation)
    return loss / steps


def opt_auc_biases(images, labels, biases, rows, pairs, steps, rate, regularisation, for_positives, for_negatives):
    loss = 0.0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        n = draw_negative(rows[i], len(labels), for_negatives)
        margin = images[i] @ (labels[p] - labels[n]) + biases[p] - biases[n]
        loss += np.log(1 + np.exp(-margin))
        sgd_step(images, labels, i, p, n, rate / (1 + np.exp(margin)), rate * regularisation)
        biases[[p, n]] += rate * (np.array([1, -1]) / (1 + np.exp(margin)) - regularisation * biases[[p, n]])
    return loss / steps
