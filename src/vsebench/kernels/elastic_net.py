"""Coordinate descent for SLIM: sparse, non-negative regressions of each label on the other labels."""

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy", nogil=True)
def elastic_net_columns(start, stop, gram, l1, l2, tolerance, most_sweeps, weights):
    """Minimise 1/2 |x_c - X w|^2 + l2/2 |w|^2 + l1 sum of w over w >= 0 with w_c = 0, for c = start to stop - 1.

    X is the binary label matrix and x_c its column c. A sweep updates the weight of each label k in turn: with g = X' X
    and r_k = (X' (x_c - X w))_k,

        w_k = max(0, r_k + g_kk w_k - l1) / (g_kk + l2).

    No element of g or w is negative, so r_k + g_kk w_k never exceeds g_kc. Therefore w_k is 0 if g_kc <= l1, and such
    labels k are skipped. For each label c, sweeps are repeated until one changes no weight by more than the tolerance,
    but at most `most_sweeps` times.

    gram : (n_labels, n_labels) float64, g: the numbers of images that have both labels
    l1, l2, tolerance : float64
    most_sweeps : integer, the largest number of sweeps for a label
    weights : (n_labels, n_labels) float32, the w of each label as a column; only columns start to stop - 1 are written

    Returns the largest number of sweeps of a label, integer, and the largest change of a weight in a label's last
    sweep, float64.
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
    """Update r and the weights w of some labels in one sweep; return the largest change of a weight.

    candidates : (n,) int64, the labels
    r, w : (at least n,) float64; the first n entries belong to the candidates
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
