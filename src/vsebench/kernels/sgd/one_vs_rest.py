"""One-vs-rest: a binary classifier for each label, trained by passive-aggressive steps.

Source: Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, "Online passive-aggressive algorithms", JMLR 7, 2006, PA-I.
"""

import numpy as np
from numba import njit

from vsebench.kernels.sgd.image_rows import add_to_rows, sum_of_rows
from vsebench.kernels.vectors import FASTMATH, NO_ALLOCATION


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def one_vs_rest_epoch(weights, rows, n_labels, offsets, label_of_pair, order, aggressiveness, steps_of_labels):
    """Take a passive-aggressive step of every label for each image.

    With t = 1 if the image carries label c and t = -1 otherwise, h = max(0, 1 - t f_c(x)) and tau = min(a, h / |x|^2),
    w_c moves by tau t x.

    weights
        (d, K) float32, updated: a row per feature, padded like the rows of `ImageRows`, and a column per label; K is
        `padded_size` of the number of labels. The columns that pad it are 0 and stay 0.
    rows : `ImageRows` of the images
    n_labels : integer
    offsets, label_of_pair : arrays of a `LabelMatrix` with the labels of the images; labels ascend in a row
    order : (n,) int64, the images in the order of their steps
    aggressiveness : float, a
    steps_of_labels : (1, K) float32, scratch memory for one step; the padding is 0

    Returns the mean of h over images and labels, float64.
    """
    loss = 0.0
    limit = np.float32(aggressiveness)
    for i in order:
        sum_of_rows(rows, i, weights, steps_of_labels)
        square = rows.squares[i]
        slot, stop = offsets[i], offsets[i + 1]
        for c in range(n_labels):
            target = np.float32(-1)
            if slot < stop and label_of_pair[slot] == c:
                target = np.float32(1)
                slot += 1
            violation = np.float32(1) - target * steps_of_labels[0, c]
            size = np.float32(0)
            if violation > 0:
                loss += violation
                # An image of zeros has a square of 0, and changes no weight whatever the size.
                size = limit if violation >= limit * square else violation / square
            steps_of_labels[0, c] = size * target
        add_to_rows(rows, i, weights, steps_of_labels)
    return loss / (len(order) * n_labels)
