"""Losses of the votes and distances of an image's neighbours in plain NumPy."""

import numpy as np

SURE = 1e-5


def votes(logits, near, carries):
    """Return each label's votes, (n, n_labels), by the softmax of logits, (n, k), over neighbours `near`, (n, k)."""
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return np.einsum("nk,nkl->nl", shares, carries[near].astype(float))


def negative_log_likelihood(logits, near, carries, costs, alpha=None, beta=None):
    """Return the loss of each image and label, (n, n_labels); without `alpha`, there are no sigmoids."""
    x = votes(logits, near, carries)
    p = SURE + (1 - 2 * SURE) * x if alpha is None else 1 / (1 + np.exp(-(alpha * x + beta)))
    return -np.where(carries, costs[1] * np.log(p), costs[0] * np.log(1 - p))


def margin_loss(targets, likeness, impostors, unlikeness, push, smoothing):
    """Return the loss of one image, given the distances and weights of its targets and of its impostors."""
    z = 1 + targets[:, None] - impostors
    hinge = np.where(z < 0, 0, np.where(z < smoothing, z**2 / (2 * smoothing), z - smoothing / 2))
    return likeness @ targets + push * (hinge @ unlikeness).sum()
