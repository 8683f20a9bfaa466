"""The loss of a rank in WARP and in what follows it: L(k) = 1 + 1/2 + ... + 1/k.

Source: Usunier, Buffoni and Gallinari, "Ranking with ordered weighted pairwise classification", ICML 2009, with the
weights 1/j of Weston, Bengio and Usunier, "Large scale image annotation", 2010.
"""

import numpy as np
from numpy.typing import NDArray


def rank_losses(n_labels: int) -> NDArray[np.float64]:
    """Return L(0) = 0 to L(n_labels), (n_labels + 1,)."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n_labels + 1))])
