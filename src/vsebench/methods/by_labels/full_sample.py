"""Functions for methods that learn from all (image, label) pairs: index positives, weigh labels, divide the work."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vsebench.data.chunks import Chunks
from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.kernels.full_sample import AHEAD, Columns, Rows
from vsebench.kernels.vectors import LANES, aligned


def rows_and_columns(
    train: LabelMatrix, order: NDArray[np.int64], weights: NDArray[np.float32], gamma: float
) -> tuple[Rows, Columns]:
    """Return the positives twice: sorted by image, and sorted by label.

    `order` lists the images in the kernels' order. `weights`, (n_pairs,), contains the weight w_ic of each pair of
    `train`. `gamma` is used only for `Columns.roots`. In `Columns`, the positives of a label occupy consecutive
    positions of the arrays, called slots. The number of slots of a label is rounded up to a multiple of LANES.

    The following example has three labels, and LANES = 4 instead of 16. Image 0 has the labels 0, 1 and 2, image 1 has
    label 1, and image 2 has the labels 0 and 1. Images with few labels come first, so `order` is 1, 2, 0: in the
    kernels, image 1 is number 0, image 2 is number 1, and image 0 is number 2.

        Rows        image         0 | 1  1 | 2  2  2
        offsets     0, 1, 3, 6
        labels                    1 | 0  1 | 0  1  2
        slots                     4 | 0  5 | 1  6  8        the slot of the same positive in Columns

        Columns     slot          0  1  2  3 | 4  5  6  7 | 8  9 10 11
        degrees     2, 3, 1       label 0    | label 1    | label 2
        tiles       0, 1, 2, 3    here one tile of four slots per label; label c starts at slot LANES * tiles[c]
        images                    1  2  -  - | 0  1  2  - | 2  -  -  -        -: padding, 0 in all arrays
    """
    degrees = np.diff(train.offsets)[order]
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    # The positives of an image stay together, so all of them are shifted by the same number of positions.
    pairs = np.repeat(train.offsets[order] - offsets[:-1], degrees) + np.arange(train.n_pairs)
    w, labels = weights[pairs], train.label_of_pair[pairs]

    label_degrees = np.bincount(labels, minlength=train.n_labels)
    tiles = np.concatenate([[0], np.cumsum(-(-label_degrees // LANES))])
    by_label = stable_order(labels)
    # A positive's slot is its position in the order by label, plus the padding of all earlier labels.
    padding = tiles[:-1] * LANES - np.cumsum(label_degrees) + label_degrees
    slots = np.empty(train.n_pairs, dtype=np.int32)
    slots[by_label] = np.arange(train.n_pairs) + np.repeat(padding, label_degrees)
    columns = Columns(
        label_degrees,
        tiles,
        np.zeros(tiles[-1] * LANES + AHEAD, dtype=np.int32),
        aligned(tiles[-1] * LANES),
        aligned(tiles[-1] * LANES),
    )
    columns.images[slots] = np.repeat(np.arange(train.n_rows, dtype=np.int32), degrees)
    columns.weights[slots] = w
    columns.roots[slots] = np.repeat((gamma / np.sqrt(np.maximum(degrees, 1))).astype(np.float32), degrees)
    return Rows(offsets, labels, w, slots), columns


def stable_order(numbers: NDArray[np.int32] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices that sort numbers >= 0 in ascending order; equal numbers keep their order.

    For speed, the numbers are first converted to the smallest integer type that can hold them.
    """
    smallest = np.min_scalar_type(int(numbers.max(initial=0)))
    return np.argsort(numbers.astype(smallest), kind="stable")


def label_penalties(train: LabelMatrix, beta_0: float, alpha: float) -> NDArray[np.float32]:
    """Return the weight beta_c of each label c in all pairs that are not positives, (n_labels,) float32.

    The weight is beta_c = beta_0 chi_c^alpha / sum_k chi_k^alpha, where chi_c is the number of images with label c, and
    k runs over all labels. The formula is in section 3.1.1 of the VSE-fs paper. If alpha > 0, the weight of a label
    that never occurs is 0.
    """
    popularity = np.bincount(train.label_of_pair, minlength=train.n_labels).astype(np.float64)
    share = (popularity / max(popularity.sum(), 1)) ** alpha
    weights: NDArray[np.float32] = (beta_0 * share / share.sum()).astype(np.float32)
    return weights


def penalty_scales(
    train: LabelMatrix, weights: NDArray[np.float32], penalties: NDArray[np.float32], nu: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the factors of the penalties on images, (n_rows,), and on labels, (n_labels,), both float32.

    The factor of an image is W_i^nu, where W_i is the total weight of its pairs with all labels: w_ic for its labels,
    and beta_c for all other labels c. Likewise, the factor of a label is W_c^nu, where W_c is the total weight of its
    pairs with all images. If all pairs of an image or of a label have weight 0, its factor is 1, so that the penalty
    makes its vector 0.

    weights : (n_pairs,), w_ic, the weight of each positive
    penalties : (n_labels,), beta_c, the weight of label c in all other pairs

    Source: Rendle, Krichene, Zhang and Koren, "Revisiting the performance of iALS on item recommendation benchmarks",
    RecSys 2022, in the notation of VSE-fs.
    """
    if nu == 0:  # the usual case, which needs no sums
        return np.ones(train.n_rows, dtype=np.float32), np.ones(train.n_labels, dtype=np.float32)
    excess = (weights - penalties[train.label_of_pair]).astype(np.float64)
    beta = penalties.astype(np.float64)
    image = beta.sum() + np.bincount(train.image_of_pair, weights=excess, minlength=train.n_rows)
    label = beta * train.n_rows + np.bincount(train.label_of_pair, weights=excess, minlength=train.n_labels)
    by_image, by_label = (np.where(total > 0, total, 1) ** nu for total in (image, label))
    return by_image.astype(np.float32), by_label.astype(np.float32)


def chunks_of_equal_work(offsets: NDArray[np.int64], n_chunks: int) -> Chunks:
    """Divide rows into at most `n_chunks` chunks that contain about the same number of pairs.

    Row r contains the pairs offsets[r] to offsets[r + 1] - 1. A chunk (start, stop) consists of the rows `start` to
    `stop` - 1.
    """
    targets = np.linspace(0, offsets[-1], n_chunks + 1)[1:-1]
    cuts = np.unique(np.concatenate([[0], np.searchsorted(offsets, targets), [len(offsets) - 1]]))
    return [(int(start), int(stop)) for start, stop in pairwise(cuts)]


def in_blocks(hessian: Matrix) -> NDArray[np.float32]:
    """Return a matrix, (K, K), in the kernels' format: blocks of 16 columns, (K / 16, K, 16)."""
    k = len(hessian)
    blocks = aligned(k // LANES, k, LANES)
    blocks[:] = hessian.reshape(k, k // LANES, LANES).swapaxes(0, 1)
    return blocks
