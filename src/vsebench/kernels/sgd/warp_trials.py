"""Draw negatives as WARP does, with the scores of a fitted model, but take no gradient steps."""

import numpy as np
from numba import njit

from vsebench.kernels.sgd.warp import find_violator


@njit(cache=True)
def draw_trials(images, labels, rows, offsets, positives, trials, rng, n_steps, sums):
    """Search for a violator `n_steps` times for each pair of an image and one of its labels, and count the trials.

    images, labels : (n_images, K) and (n_labels, K) float32, the vectors
    rows : (n_pairs,), the image of each pair
    positives : (n_pairs + LANES,) int32, the label of each pair, then LANES unused numbers;
        positives[offsets[i]:offsets[i + 1]] are all labels of image i
    trials, rng : as for `find_violator`
    sums : (n_pairs,) int64, to which the number of trials of each pair is added
    """
    for pair in range(len(rows)):
        i = rows[pair]
        score = np.float32(0)
        for f in range(labels.shape[1]):
            score += images[i, f] * labels[positives[pair], f]
        for _ in range(n_steps):
            found = find_violator(images, i, labels, score, positives, offsets[i], offsets[i + 1], trials, rng)
            sums[pair] += found[2]
