"""Draw negatives as WARP does, with the scores of a fitted model, but take no gradient steps."""

import numpy as np
from numba import njit

from vsebench.kernels.sgd.warp import find_violator


@njit(cache=True)
def draw_trials(images, labels, rows, offsets, positives, trials, rng, n_steps, sums):
    """Add, for each pair, the number of trials in `n_steps` steps to `sums`, (n_pairs,) int64.

    Row `rows[pair]` of `images` has label `positives[pair]`; positives[offsets[i]:offsets[i + 1]] are all labels of
    row i. `trials` and `rng` are as for `find_violator`.
    """
    for pair in range(len(rows)):
        i = rows[pair]
        score = np.float32(0)
        for f in range(labels.shape[1]):
            score += images[i, f] * labels[positives[pair], f]
        for _ in range(n_steps):
            found = find_violator(images, i, labels, score, positives, offsets[i], offsets[i + 1], trials, rng)
            sums[pair] += found[2]
