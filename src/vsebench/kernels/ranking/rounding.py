"""Inner products of vectors that are rounded to int16, with a bound on the error.

Many comparisons do not depend on the last digits of the scores, and processors multiply and add two pairs of int16 in
the time of one pair of float32. Let u = r (x + x'), where r = |u| / NORM, x is a vector of integers and |x'_k| is at
most 1/2. With v = s (y + y') in the same way, and K numbers per vector, the Cauchy-Schwarz inequality gives

    |<u, v> / (r s) - <x, y>| <= NORM K^(1/2) + K / 4.

For K = 128, this bound is about 0.035 % of the largest possible product. If it leaves a comparison undecided, the
comparison is made in float32, so no result depends on the rounding.
"""

import platform
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.vectors import FASTMATH, LANES, aligned, padded_size

NORM = 32767  # the largest int16; a product of two vectors of this norm fits into int32
LARGEST_SCALE = 1e15  # upper bound on NORM / |u|, so that zeros need no special case
ROUNDING_PAYS = platform.machine().lower() in ("x86_64", "amd64")  # other processors lack an instruction for two pairs


@njit(cache=True, fastmath=FASTMATH, inline="always")
def round_row(vectors, row, rounded):
    """Write the x of row `row` of `vectors` (n, K) float32 to `rounded` (K,) int16; return 1 / r, float64."""
    square = 0.0
    for k in range(vectors.shape[1]):
        square += np.float64(vectors[row, k]) ** 2
    scale = NORM / max(np.sqrt(square), NORM / LARGEST_SCALE)
    for k in range(vectors.shape[1]):
        rounded[k] = np.int16(np.rint(vectors[row, k] * scale))
    return scale


@njit(cache=True, fastmath=FASTMATH)
def round_rows(vectors, n):
    """Round all rows of `vectors` (m, K) float32.

    Returns the x, (m, K) int16, and the 1 / r of the first n rows, (m,) float32. For the other rows, NaN stands in
    place of 1 / r, so every comparison with it is false.
    """
    rounded = np.empty(vectors.shape, dtype=np.int16)
    scales = np.full(len(vectors), np.nan, dtype=np.float32)
    for row in range(len(vectors)):
        scale = round_row(vectors, row, rounded[row])
        if row < n:
            scales[row] = scale
    return rounded, scales


class RoundedLabels(NamedTuple):
    """The vectors of labels in the formats that kernels multiply.

    n' and K' are n_labels and K, the number of factors, rounded up to multiples of 16.

    Attributes
    ----------
    vectors : (n', K') float32, the vectors themselves; the padding is 0
    pairs
        (n' / 16, K / 2 rounded up, 32) int16, the rounded vectors. `pairs[g, k]` contains two factors of each of 16
        labels: factors 2 k and 2 k + 1 of label 16 g, then of label 16 g + 1, and so on.
    scales : (n',) float32, the 1 / r of each label; NaN in the padding
    bound
        The largest possible difference between a product of rounded vectors and the float32 score divided by r s. It is
        the bound in this module's docstring, plus the rounding error of float32 scores, plus a margin for the
        comparison.
    """

    vectors: NDArray[np.float32]
    pairs: NDArray[np.int16]
    scales: NDArray[np.float32]
    bound: float


def round_labels(labels: NDArray[np.float32]) -> RoundedLabels:
    """Round the vectors of labels, (n_labels, K) float32."""
    n_labels, n_factors = labels.shape
    vectors = aligned(padded_size(n_labels), padded_size(n_factors))
    vectors[:n_labels, :n_factors] = labels
    rounded, scales = round_rows(vectors, n_labels)
    n_pairs = -(-n_factors // 2)
    groups = rounded[:, : 2 * n_pairs].reshape(-1, LANES, n_pairs, 2)  # group x label x pair of factors x factor
    pairs = np.ascontiguousarray(groups.transpose(0, 2, 1, 3)).reshape(-1, n_pairs, 2 * LANES)
    bound = NORM * n_factors**0.5 + n_factors / 4 + n_factors * 2.0**-23 * NORM**2 + 1024
    return RoundedLabels(vectors, pairs, scales, bound)


NOT_ROUNDED = RoundedLabels(
    np.empty((0, 0), dtype=np.float32), np.empty((0, 0, 0), dtype=np.int16), np.empty(0, dtype=np.float32), 0.0
)


@njit(cache=True, inline="always")
def update_label(rounded_labels, labels, c, buffer):
    """Round the vector of label c again after a step: write its `pairs` and its scale.

    rounded_labels : `RoundedLabels`; its `vectors` are not changed
    labels : (n_labels, K) float32, the vectors after the step
    c : integer, the label
    buffer : (K,) int16, overwritten
    """
    rounded_labels.scales[c] = round_row(labels, c, buffer)
    group, lane = c // LANES, c % LANES
    for pair in range(rounded_labels.pairs.shape[1]):
        rounded_labels.pairs[group, pair, 2 * lane] = buffer[2 * pair]
        rounded_labels.pairs[group, pair, 2 * lane + 1] = buffer[2 * pair + 1]
