"""Projections onto random directions, one for each node of a tree (`methods.by_features.random_projection_tree`).

Each entry of a node's direction depends only on a seed, the node and the feature. Directions are not stored: the
entries of a node's direction are computed when its rows need them.
"""

import math

import numpy as np
from numba import njit

from vsebench.kernels.random_numbers import INCREMENT, U64, mix


@njit(cache=True)
def entry(seed, node, feature):
    """Return an entry of a node's direction, float64: a standard normal number, by the Box-Muller method.

    seed : uint64
    node, feature : integers from 0
    """
    first = mix(mix(mix(seed) + U64(node)) + U64(feature))
    second = mix(first + INCREMENT)
    radius = math.sqrt(-2.0 * math.log((np.float64(first >> U64(11)) + 0.5) * 2.0**-53))
    return radius * math.cos(2.0 * math.pi * np.float64(second >> U64(11)) * 2.0**-53)


@njit(cache=True, nogil=True)
def direction(seed, node, dimensions):
    """Return the direction of a node, (dimensions,) float64."""
    entries = np.empty(dimensions)
    for feature in range(dimensions):
        entries[feature] = entry(seed, node, feature)
    return entries


@njit(cache=True, nogil=True)
def project_sparse(rows, chosen, seed, node, entries, made_for):
    """Project some rows onto the direction of a node; the direction's entries are computed when they are first needed.

    rows : CSR, the tuple (data, indices, offsets)
    chosen : (m,) integers, the numbers of the rows
    seed, node : as in `entry`
    entries : (d,) float64, written
    made_for : (d,) int64, the node to which each number in `entries` belongs; written

    Returns the projections, (m,) float64.
    """
    data, indices, offsets = rows
    projections = np.zeros(len(chosen))
    for slot, r in enumerate(chosen):
        for position in range(offsets[r], offsets[r + 1]):
            feature = indices[position]
            if made_for[feature] != node:
                entries[feature] = entry(seed, node, feature)
                made_for[feature] = node
            projections[slot] += data[position] * entries[feature]
    return projections
