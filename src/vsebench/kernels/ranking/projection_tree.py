"""Projections onto random directions (see `methods.by_features.random_projection_tree`).

Each node of a tree has its own direction. Each entry of this direction depends only on a seed, the node and the
feature. Directions are not stored. Instead, an entry is computed when the projection of a row needs it.
"""

import math

import numpy as np
from numba import njit

from vsebench.kernels.random_numbers import INCREMENT, U64, mix


@njit(cache=True)
def entry(seed, node, feature):
    """Return an entry of a node's direction, float64.

    It is a standard normal random number, computed by the Box-Muller method.

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
    """Project some sparse rows onto the direction of a node.

    rows : the tuple (data, indices, offsets) of a CSR matrix
    chosen : (m,) integers, the numbers of the rows to project
    seed, node : as in `entry`
    entries : (d,) float64, the entries computed so far; updated
    made_for : (d,) int64, the node for whose direction each of the `entries` was computed; updated

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
