"""The losses of networks in float64, written as sums over pairs or labels, for one image."""

import numpy as np


def pairs_of(labels, n_labels):
    """Return every (positive, negative) pair of an image."""
    return [(u, v) for u in labels for v in range(n_labels) if v not in labels]


def rank(scores, u):
    """Return the rank of a label among all labels, from 1."""
    return 1 + sum(score > scores[u] for score in scores)


def harmonic(n):
    return sum(1 / k for k in range(1, n + 1))


def lsep(scores, labels, weighted=False):
    weights = {u: harmonic(rank(scores, u)) if weighted else 1.0 for u in labels}
    return np.log1p(sum(weights[u] * np.exp(scores[v] - scores[u]) for u, v in pairs_of(labels, len(scores))))


def zlpr(scores, labels):
    negatives = [v for v in range(len(scores)) if v not in labels]
    return np.log1p(np.exp(scores[negatives]).sum()) + np.log1p(np.exp(-scores[labels]).sum())


def bp_mll(scores, labels, averaged=True):
    pairs = pairs_of(labels, len(scores))
    total = sum(np.exp(scores[v] - scores[u]) for u, v in pairs)
    return total / max(1, len(pairs)) if averaged else total


def pair_logistic(scores, labels):
    pairs = pairs_of(labels, len(scores))
    return sum(np.log1p(np.exp(scores[v] - scores[u])) for u, v in pairs) / max(1, len(pairs))


def hinge(scores, labels, weighted=False):
    weights = {u: harmonic(rank(scores, u)) if weighted else 1.0 for u in labels}
    return sum(weights[u] * max(0.0, 1 + scores[v] - scores[u]) for u, v in pairs_of(labels, len(scores)))


def softmax(scores, labels, averaged=True):
    total = sum(np.log(np.exp(scores - scores[u]).sum()) for u in labels)
    return total / max(1, len(labels)) if averaged else total


def binary(scores, labels):
    carried = np.isin(np.arange(len(scores)), labels)
    return np.log1p(np.exp(np.where(carried, -scores, scores))).sum()


def asymmetric(scores, labels, focus_positives=0.0, focus_negatives=4.0, margin=0.05):
    carried = np.isin(np.arange(len(scores)), labels)
    p = 1 / (1 + np.exp(-scores))
    q = np.maximum(p - margin, 0)
    positives = -((1 - p) ** focus_positives) * np.log(p)
    negatives = -(q**focus_negatives) * np.log(1 - q)
    return np.where(carried, positives, negatives).sum()


def two_way(scores, labels_of, of_positives=4.0, of_negatives=1.0):
    """Return the two-way loss of a batch, (m, n_labels) scores: m times the sum of two means."""
    carried = np.array([np.isin(np.arange(scores.shape[1]), labels) for labels in labels_of])

    def mean_loss(scores, carried):
        losses = []
        for line, is_positive in zip(scores, carried, strict=True):
            a = np.exp(-line[is_positive] / of_positives).sum() ** of_positives
            b = np.exp(line[~is_positive] / of_negatives).sum() ** of_negatives
            losses += [np.log1p(a * b)] if is_positive.any() else []
        return np.mean(losses) if losses else 0.0

    return len(scores) * (mean_loss(scores, carried) + mean_loss(scores.T, carried.T))
