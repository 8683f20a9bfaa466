"""Inner products of vectors that are rounded to int16, with a bound on the error.

Many comparisons of scores do not depend on the scores' last digits. Processors multiply and add two pairs of int16 in
the time that they need for one pair of float32.

A vector u is written as r (x + x'), where r is |u| / NORM, x is a vector of integers, and no element of x' exceeds 1/2
in absolute value. In the same way, another vector v is written as s (y + y'). If the vectors have K elements, the
Cauchy-Schwarz inequality gives

    |<u, v> / (r s) - <x, y>| <= NORM K^(1/2) + K / 4.

For K = 128, this bound is about 0.035 % of the largest possible product <x, y>. A comparison that the bound leaves
undecided is made in float32, so no result depends on the rounding.
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
    """Write the rounded row `row` of `vectors` to `rounded`, and return the scale of the row, float64.

    The scale is 1 / r, with the r of the module's docstring, but at most LARGEST_SCALE.

    vectors : (n, K) float32
    rounded : (K,) int16, written
    """
    square = 0.0
    for k in range(vectors.shape[1]):
        square += np.float64(vectors[row, k]) ** 2
    scale = NORM / max(np.sqrt(square), NORM / LARGEST_SCALE)
    for k in range(vectors.shape[1]):
        rounded[k] = np.int16(np.rint(vectors[row, k] * scale))
    return scale


@njit(cache=True, fastmath=FASTMATH)
def round_rows(vectors, n):
    """Round all rows of `vectors`, (m, K) float32.

    Returns the rounded rows, (m, K) int16, and their scales, (m,) float32. A row's scale is the result of `round_row`.
    From row n on, the scales are NaN, so every comparison with them is false.
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

    K is the number of factors. The numbers n' and K' are n_labels and K, rounded up to multiples of 16.

    Attributes
    ----------
    vectors : (n', K') float32, the vectors before rounding; the padding is 0
    pairs
        (n' / 16, K / 2 rounded up, 32) int16, the rounded vectors. `pairs[g, k]` contains two factors of each of 16
        labels: factors 2 k and 2 k + 1 of label 16 g, then of label 16 g + 1, and so on.
    scales : (n',) float32, the scale of each label (see `round_row`); NaN in the padding
    bound
        The inner product of two rounded vectors approximates the float32 score times the scales of both vectors. These
        two numbers differ by at most `bound`, which is the sum of the bound in this module's docstring, the rounding
        error of float32 scores and a margin for the comparison.
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
    """Round the vector of label c again after a training step has changed it.

    rounded_labels : `RoundedLabels`; the `pairs` and `scales` of label c are updated, but not its `vectors`
    labels : (n_labels, K) float32, the vectors after the step
    c : integer, the label
    buffer : (K,) int16, overwritten
    """
    rounded_labels.scales[c] = round_row(labels, c, buffer)
    group, lane = c // LANES, c % LANES
    for pair in range(rounded_labels.pairs.shape[1]):
        rounded_labels.pairs[group, pair, 2 * lane] = buffer[2 * pair]
        rounded_labels.pairs[group, pair, 2 * lane + 1] = buffer[2 * pair + 1]
