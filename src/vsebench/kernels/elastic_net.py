"""Coordinate descent for SLIM: sparse, non-negative regressions of each label on the other labels."""

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy", nogil=True)
def elastic_net_columns(start, stop, gram, l1, l2, tolerance, most_sweeps, weights):
    """Compute the regressions of the labels `start` to `stop` - 1 on the other labels.

    X is the binary label matrix, and x_c is its column c. For each label c, the function minimises

        1/2 |x_c - X w|^2 + l2/2 |w|^2 + l1 sum_k w_k

    over all w with w >= 0 and w_c = 0. A sweep updates the weight of each label k other than c in turn:

        w_k = max(0, r_k + g_kk w_k - l1) / (g_kk + l2), where g = X' X and r_k = (X' (x_c - X w))_k.

    No element of g or w is negative, so r_k + g_kk w_k never exceeds g_kc. Therefore, w_k is 0 if g_kc <= l1, and such
    labels k are skipped. For each label c, sweeps are repeated until one changes no weight by more than the tolerance,
    but at most `most_sweeps` times.

    gram : (n_labels, n_labels) float64, g: for each pair of labels, the number of images that have both labels
    l1, l2, tolerance : float64
    most_sweeps : integer, the largest number of sweeps for a label
    weights
        (n_labels, n_labels) float32. Column c gets the w of label c. Only the columns `start` to `stop` - 1 are
        written.

    Returns two numbers, each a maximum over the labels c: the number of sweeps, integer, and the largest change of a
    weight in the last sweep, float64.
    """
    n_labels = len(gram)
    candidates = np.empty(n_labels, dtype=np.int64)
    r, w = np.empty(n_labels), np.empty(n_labels)
    most, last_change = 0, 0.0
    for c in range(start, stop):
        n = 0
        for k in range(n_labels):
            weights[k, c] = 0
            if k != c and gram[c, k] > l1:
                candidates[n], r[n], w[n] = k, gram[c, k], 0.0
                n += 1
        change, sweeps = 0.0, 0
        for sweep in range(most_sweeps):
            change, sweeps = sweep_column(gram, l1, l2, candidates[:n], r, w), sweep + 1
            if change <= tolerance:
                break
        most, last_change = max(most, sweeps), max(last_change, change)
        for a in range(n):
            weights[candidates[a], c] = w[a]
    return most, last_change


@njit(cache=True, error_model="numpy", inline="always")
def sweep_column(gram, l1, l2, candidates, r, w):
    """Update the weights w of some labels in one sweep, and return the largest change of a weight.

    For gram, l1, l2, r and w, see `elastic_net_columns`.

    candidates : (n,) int64, the labels
    r, w : (at least n,) float64, updated; the first n entries belong to the candidates
    """
    largest = 0.0
    for a in range(len(candidates)):
        row = gram[candidates[a]]
        own = row[candidates[a]]
        change = max(0.0, r[a] + own * w[a] - l1) / (own + l2) - w[a]
        if change != 0:
            w[a] += change
            largest = max(largest, abs(change))
            for b in range(len(candidates)):
                r[b] -= row[candidates[b]] * change
    return largest
