"""Inner products of vectors that are rounded to whole numbers, and how far off they may be.

Many decisions need no last digits of a score. Let u = r (x + x') with r = |u| / NORM, x whole numbers and no |x'_k|
above 1/2; processors multiply and add two pairs of such numbers in the time of one pair of float32. With
v = s (y + y') it follows (Cauchy and Schwarz) that

    |<u, v> / (r s) - <x, y>| <= NORM K^(1/2) + K / 4,

which is some 0.04 % of the largest product for K = 128. What this leaves undecided is computed in float32, so that no
decision depends on the rounding.
"""

import platform
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.lanes import LANES, MATH, aligned, filled_up

NORM = 32767  # the largest int16; a product of two vectors of this norm fits into int32
LARGEST_SCALE = 1e15  # NORM / |u| of shorter vectors: they are rounded more coarsely, and 1 / 0 is no case of its own
ROUNDING_PAYS = platform.machine().lower() in ("x86_64", "amd64")  # others have no such instruction for two pairs


@njit(cache=True, fastmath=MATH, inline="always")
def round_row(vectors, row, whole):
    """Write the x of a vector to `whole` (K,) int16; return 1 / r."""
    square = 0.0
    for k in range(vectors.shape[1]):
        square += np.float64(vectors[row, k]) ** 2
    scale = NORM / max(np.sqrt(square), NORM / LARGEST_SCALE)
    for k in range(vectors.shape[1]):
        whole[k] = np.int16(np.rint(vectors[row, k] * scale))
    return scale


@njit(cache=True, fastmath=MATH)
def rounded(vectors, n):
    """Return the x of vectors, int16, and the 1 / r: NaN from the n-th on, which makes every comparison false."""
    whole = np.empty(vectors.shape, dtype=np.int16)
    scales = np.full(len(vectors), np.nan, dtype=np.float32)
    for row in range(len(vectors)):
        scale = round_row(vectors, row, whole[row])
        if row < n:
            scales[row] = scale
    return whole, scales


class RoundedLabels(NamedTuple):
    """The vectors of labels, as kernels multiply them.

    Attributes
    ----------
    vectors
        (n_labels', K') float32; what is primed is filled up to a multiple of 16 with zeros.
    pairs
        (n_labels' / 16, K / 2 rounded up, 32) int16: for 16 labels and two factors, the two numbers of the first label,
        of the second and so on.
    scales
        (n_labels',) float32, the 1 / r.
    bound
        How far a product of two rounded vectors may be from the score in float32, divided by r s: besides the bound
        above the rounding of scores, and some more for that of the comparison.
    """

    vectors: NDArray[np.float32]
    pairs: NDArray[np.int16]
    scales: NDArray[np.float32]
    bound: float


def round_labels(labels: NDArray[np.float32]) -> RoundedLabels:
    """Prepare the vectors of labels, (n_labels, K) float32."""
    n_labels, n_factors = labels.shape
    vectors = aligned(filled_up(n_labels), filled_up(n_factors))
    vectors[:n_labels, :n_factors] = labels
    whole, scales = rounded(vectors, n_labels)
    n_pairs = -(-n_factors // 2)
    groups = whole[:, : 2 * n_pairs].reshape(-1, LANES, n_pairs, 2)  # 16 labels, label, two factors, factor
    pairs = np.ascontiguousarray(groups.transpose(0, 2, 1, 3)).reshape(-1, n_pairs, 2 * LANES)
    bound = NORM * n_factors**0.5 + n_factors / 4 + n_factors * 2.0**-23 * NORM**2 + 1024
    return RoundedLabels(vectors, pairs, scales, bound)


NOT_ROUNDED = RoundedLabels(
    np.empty((0, 0), dtype=np.float32), np.empty((0, 0, 0), dtype=np.int16), np.empty(0, dtype=np.float32), 0.0
)


@njit(cache=True, inline="always")
def round_label_again(rounded_labels, labels, c, whole):
    """Write a label that has moved to the `pairs` and `scales`; `whole` (K,) int16 is room."""
    rounded_labels.scales[c] = round_row(labels, c, whole)
    group, lane = c // LANES, c % LANES
    for pair in range(rounded_labels.pairs.shape[1]):
        rounded_labels.pairs[group, pair, 2 * lane] = whole[2 * pair]
        rounded_labels.pairs[group, pair, 2 * lane + 1] = whole[2 * pair + 1]
