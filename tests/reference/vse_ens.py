"""VSE-ens in plain NumPy and float64, one step after the other."""

import numpy as np

from tests.reference.steps import sgd_step


def vse_ens(images, labels, rows, pairs, lists, steps, scale, rate, regularisation, *rngs):
    """Take steps; `lists` are the sorted labels (n_factors, n_labels) and the standard deviations (n_factors,)."""
    for_positives, for_negatives, for_redraws = rngs
    loss = 0.0
    for _ in range(steps):
        i, p = pairs[for_positives.below(len(pairs))]
        n = draw_adaptive(images[i], *lists, scale, for_negatives)
        while n in rows[i]:
            n = draw_adaptive(images[i], *lists, scale, for_redraws)
        violation = 1 - images[i] @ labels[p] + images[i] @ labels[n]
        if violation > 0:
            loss += violation
            sgd_step(images, labels, i, p, n, rate, rate * regularisation)
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
