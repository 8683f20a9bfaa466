"""How often two labels stand on the same image."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_together(offsets, labels, n_labels):
    """Count the images that carry both labels of each pair.

    offsets, labels : the label matrix by rows

    Returns (n_labels, n_labels) float64, symmetric; the diagonal counts the images that carry a label.
    """
    together = np.zeros((n_labels, n_labels))
    for i in range(len(offsets) - 1):
        row = labels[offsets[i] : offsets[i + 1]]
        for a in row:
            for b in row:
                together[a, b] += 1.0
    return together
