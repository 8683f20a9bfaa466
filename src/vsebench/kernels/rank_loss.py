"""The loss of a rank in WARP and in losses based on WARP: L(k) = 1 + 1/2 + ... + 1/k.

Source: Usunier, Buffoni and Gallinari, "Ranking with ordered weighted pairwise classification", ICML 2009, with the
weights 1/j of Weston, Bengio and Usunier, "Large scale image annotation", 2010.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray


def rank_losses(n_labels: int) -> NDArray[np.float64]:
    """Return the losses L(0) = 0, L(1), ..., L(n_labels) as an array of shape (n_labels + 1,)."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n_labels + 1))])


@njit(cache=True, inline="always")
def loss_of_rank(scores, row, label, rank_loss):
    """Return the loss of the rank of a label for an image, float64.

    The rank is 1 plus the number of labels with a higher score for the image.

    scores : (m, n_labels) float32; row `row` contains the image's scores
    rank_loss : (n_labels + 1,) float64, the result of `rank_losses`
    """
    rank = 1
    for k in range(scores.shape[1]):
        rank += scores[row, k] > scores[row, label]
    return rank_loss[rank]
