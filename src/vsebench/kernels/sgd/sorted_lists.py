"""Lists of all labels, each sorted by one factor, from which VSE-ens draws negatives (Eq. 6 and 8 of its paper)."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.vectors import FASTMATH, LANES, add_up, broadcast, load, scratch, store, transpose


class SortedLists(NamedTuple):
    """For each factor, a list of all labels in descending order of the factor.

    Attributes
    ----------
    order : (n_factors, n_labels) uint16 or int32, the list of each factor; labels with equal values are in the order of
        their ids
    deviations : (K,) float32, sigma_f, the standard deviation of each factor f over the labels (Eq. 8); K is n_factors,
        padded to a multiple of 16
    """

    order: NDArray[np.uint16] | NDArray[np.int32]
    deviations: NDArray[np.float32]


@njit(cache=True, nogil=True)
def refresh_lists(start, stop, labels, lists):
    """Sort the labels by each of the factors `start` to `stop` - 1.

    start, stop : multiples of 16; `stop` may exceed the number of factors
    labels : (n_labels, K) float32, the labels' vectors
    lists : `SortedLists`; the rows and deviations for these factors are written
    """
    n_factors, n_labels = lists.order.shape
    tile = scratch(LANES * LANES).reshape(LANES, LANES)  # 16 labels x 16 factors, then transposed
    padded = n_labels // LANES * LANES + LANES
    columns = scratch(LANES * padded).reshape(LANES, padded)  # 16 factors x labels
    keys, buffer = np.empty(n_labels, dtype=np.uint32), np.empty(n_labels, dtype=lists.order.dtype)
    for f0 in range(start, stop, LANES):
        for label in range(0, n_labels, LANES):
            for row in range(min(LANES, n_labels - label)):
                store(tile, (row, 0), load(labels, (label + row, f0)))
            transpose(tile, (0, 0))
            for f in range(LANES):
                store(columns, (f, label), load(tile, (f, 0)))
        for f in range(f0, min(f0 + LANES, n_factors)):
            column = columns[f - f0, :n_labels]
            lists.deviations[f] = standard_deviation(column)
            descending_keys(column, keys)
            sort_keys(keys, lists.order[f], buffer)


@njit(cache=True, fastmath=FASTMATH, inline="always")
def standard_deviation(values):
    """Return the standard deviation, float32, of `values`, (n,) float32."""
    n_full = len(values) // LANES * LANES
    sums, squares = broadcast(np.float32(0)), broadcast(np.float32(0))
    for j in range(0, n_full, LANES):
        sums = sums + load(values, j)
    mean = add_up(sums)
    for j in range(n_full, len(values)):
        mean += values[j]
    mean /= np.float32(len(values))
    for j in range(0, n_full, LANES):
        difference = load(values, j) - broadcast(mean)
        squares = squares + difference * difference
    square = add_up(squares)
    for j in range(n_full, len(values)):
        square += (values[j] - mean) ** 2
    return np.sqrt(square / np.float32(len(values)))


@njit(cache=True, inline="always")
def descending_keys(values, keys):
    """Write a key for each value to `keys`: the larger the value, the smaller the key.

    values : (n,) float32
    keys : (n,) uint32, overwritten
    """
    bits = values.view(np.uint32)
    sign = np.uint32(0x80000000)
    for j in range(len(values)):
        # The bits of a positive float, read as an integer, ascend with its value; the bits of a negative float descend.
        keys[j] = bits[j] if bits[j] & sign else ~(bits[j] | sign)


@njit(cache=True)
def sort_keys(keys, order, buffer):
    """Write to `order` the indices that sort `keys` in ascending order.

    The sort is stable. A radix sort in two passes uses only the upper 22 bits of each key (16 bits for at most 1024
    keys), and leaves few adjacent indices in the wrong order. An insertion sort corrects them.

    keys : (n,) uint32
    order : (n,) integers, overwritten
    buffer : (n,) of the type of `order`, overwritten
    """
    bits = 8 if len(keys) <= 1024 else 11
    mask, low, high = np.uint32((1 << bits) - 1), np.uint32(32 - 2 * bits), np.uint32(32 - bits)
    low_starts, high_starts = np.zeros((1 << bits) + 1, dtype=np.int32), np.zeros((1 << bits) + 1, dtype=np.int32)
    for j in range(len(keys)):
        low_starts[((keys[j] >> low) & mask) + 1] += 1
        high_starts[(keys[j] >> high) + 1] += 1
    for digit in range(1 << bits):
        low_starts[digit + 1] += low_starts[digit]
        high_starts[digit + 1] += high_starts[digit]
    for j in range(len(keys)):
        append(j, (keys[j] >> low) & mask, low_starts, buffer)
    for j in range(len(keys)):
        append(buffer[j], keys[buffer[j]] >> high, high_starts, order)
    highest = np.uint32(0)
    for j in range(len(keys)):
        label, slot = order[j], j
        if keys[label] >= highest:
            highest = keys[label]
            continue
        while slot > 0 and keys[order[slot - 1]] > keys[label]:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = label


@njit(cache=True, inline="always")
def append(j, digit, ends, order):
    """Write index j to `order`, after the indices with the same digit.

    The position is ends[digit], which is then increased by 1.
    """
    order[ends[digit]] = j
    ends[digit] += 1
