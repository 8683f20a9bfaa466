"""The loss of a rank in WARP and in losses based on WARP: L(k) = 1 + 1/2 + ... + 1/k.

Source: Usunier, Buffoni and Gallinari, "Ranking with ordered weighted pairwise classification", ICML 2009, with the
weights 1/j of Weston, Bengio and Usunier, "Large scale image annotation", 2010.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray


def rank_losses(n_labels: int) -> NDArray[np.float64]:
    """Return L(0) = 0 to L(n_labels), (n_labels + 1,)."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n_labels + 1))])


@njit(cache=True, inline="always")
def loss_of_rank(scores, row, label, rank_loss):
    """Return L(r), float64, where r is the rank of a label among all labels, by an image's scores; the first rank is 1.

    scores : (m, n_labels) float32; the image's scores are in row `row`
    rank_loss : (n_labels + 1,) float64, from `rank_losses`
    """
    rank = 1
    for k in range(scores.shape[1]):
        rank += scores[row, k] > scores[row, label]
    return rank_loss[rank]
