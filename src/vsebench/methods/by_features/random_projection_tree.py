"""Nearest images within a leaf of a random projection tree.

The search is fast, but misses neighbours in other leaves.

Each node projects its training images onto a direction with normally distributed entries, and splits them at the
median: the half with the smaller projections goes left. If projections are equal, those of the images that come first
in the data set count as smaller. The threshold is the mean of the two middle projections; a query goes left if its
projection is at most the threshold. After p levels, a query is in one of 2^p leaves. Each leaf has n / 2^p of the n
training images, rounded down or up. Within a leaf, the search is exact, and labels are scored as in `nearest_images`.

Source: Dasgupta and Freund, "Random projection trees and low dimensional manifolds", STOC 2008. Weston, Bengio and
Usunier, "Large scale image annotation", 2010, find approximate nearest neighbours with such trees, but describe neither
the directions nor the treatment of equal projections.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse

from vsebench.data.features import Rows
from vsebench.data.problem import Ids, Matrix, Queries
from vsebench.data.streams import Stream
from vsebench.kernels.random_numbers import new_state
from vsebench.kernels.ranking.projection_tree import direction, project_sparse
from vsebench.methods.by_features.neighbours import (
    NeighbourModel,
    NeighbourSettings,
    Search,
    parts_of,
    prepare,
    second_key_of,
)
from vsebench.methods.by_features.seen import FeatureControl, see

Numbers = NDArray[np.float64]


class TreeSettings(NeighbourSettings):
    """Settings of the tree, and of the neighbourhood within a leaf."""

    levels: int = Field(ge=0)  # p, the number of levels; reduced if there would be more leaves than images


class Projector:
    """Projects rows of features onto the directions of nodes.

    Node i of level l has the number 2^l - 1 + i, where i and l are counted from 0.

    Parameters
    ----------
    rows : (n, d) float32, dense or CSR
    seed : seed of the directions
    """

    def __init__(self, rows: Rows, seed: np.uint64) -> None:
        self.rows, self.seed, dimensions = rows, seed, rows.shape[1]
        self.entries, self.made_for = np.empty(dimensions), np.full(dimensions, -1, dtype=np.int64)

    def project(self, chosen: Ids, node: int) -> Numbers:
        """Project some rows onto the direction of a node.

        `chosen`, (m,), contains the numbers of the rows, and `node` is the number of the node. The result has shape
        (m,) and is float64.
        """
        if sparse.issparse(self.rows):
            return np.asarray(project_sparse(parts_of(self.rows), chosen, self.seed, node, self.entries, self.made_for))
        # In a product of matrices, a row's sum can depend on the other rows, because of rounding; here it must not.
        entries = direction(self.seed, node, self.rows.shape[1])
        return np.asarray(np.einsum("nd,d->n", self.rows[chosen], entries))


def grow(rows: Rows, levels: int, seed: np.uint64) -> tuple[Ids, NDArray[np.int64], Numbers]:
    """Grow a tree with 2^levels leaves.

    Returns
    -------
    (n,) int32, the numbers of the rows, leaf by leaf, and in ascending order within a leaf
    (2^levels + 1,) int64, the position in this order at which each leaf starts, and n at the end
    (2^levels - 1,) float64, the thresholds of the nodes
    """
    n_rows, projector = rows.shape[0], Projector(rows, seed)
    order, bounds = np.arange(n_rows, dtype=np.int32), np.array([0, n_rows], dtype=np.int64)
    thresholds = np.empty(2**levels - 1)
    for level in range(levels):
        middles = (bounds[:-1] + bounds[1:]) // 2
        for i, (start, middle, stop) in enumerate(zip(bounds[:-1], middles, bounds[1:], strict=True)):
            node = 2**level - 1 + i
            projections = projector.project(order[start:stop], node)
            # A node's rows ascend, so of rows with equal projections, the first ones go left.
            by_projection = np.argsort(projections, kind="stable")
            lower, upper = by_projection[middle - start - 1], by_projection[middle - start]
            thresholds[node] = (projections[lower] + projections[upper]) / 2
            chosen = order[start:stop]
            order[start:stop] = np.concatenate(
                [np.sort(chosen[by_projection[: middle - start]]), np.sort(chosen[by_projection[middle - start :]])]
            )
        bounds = np.insert(bounds, np.arange(1, len(bounds)), middles)
    assert set(np.diff(bounds)) <= {n_rows // 2**levels, -(-n_rows // 2**levels)}
    return order, bounds, thresholds


def descend(rows: Rows, thresholds: Numbers, seed: np.uint64) -> NDArray[np.int64]:
    """Return the number of the leaf that each query reaches, (m,).

    `rows`, (m, d), contains the prepared features of the queries, and `thresholds` the thresholds of all nodes.
    """
    projector, levels = Projector(rows, seed), (len(thresholds) + 1).bit_length() - 1
    index = np.zeros(rows.shape[0], dtype=np.int64)  # index, within its level, of the node that a query has reached
    for level in range(levels):
        nodes = 2**level - 1 + index
        for node in np.unique(nodes).tolist():
            here = np.flatnonzero(nodes == node).astype(np.int32)
            index[here] = 2 * index[here] + (projector.project(here, node) > thresholds[node])
    return index


@dataclass(frozen=True)
class ProjectionTree(NeighbourModel):
    """A fitted tree: a `NeighbourModel` whose training images are ordered by leaf.

    Attributes
    ----------
    bounds : (2^p + 1,) int64, the position of the first training image of each leaf, and the number of images at the
        end; p is the number of levels
    thresholds : (2^p - 1,) float64, thresholds of the nodes, level by level
    seed : (1,) uint64, seed of the directions
    """

    kind: ClassVar[str] = "random_projection_tree"
    settings_type = TreeSettings
    bounds: NDArray[np.int64]
    thresholds: Numbers
    seed: NDArray[np.uint64]

    def __post_init__(self) -> None:
        super().__post_init__()
        n_images, n_nodes = self.labels.n_rows, len(self.thresholds)
        if self.thresholds.dtype != np.float64 or self.thresholds.ndim != 1 or (n_nodes + 1) & n_nodes:
            raise ValueError("thresholds: must be 2^p - 1 numbers of type float64, for a whole number p")
        if self.bounds.dtype != np.int64 or self.bounds.shape != (n_nodes + 2,):
            raise ValueError("bounds: must be 2^p + 1 numbers of type int64, for a whole number p")
        if self.bounds[0] != 0 or self.bounds[-1] != n_images or (np.diff(self.bounds) < 1).any():
            raise ValueError(f"bounds: must ascend from 0 to the number of images, {n_images}")
        if self.seed.dtype != np.uint64 or self.seed.shape != (1,):
            raise ValueError("seed: must be one number of type uint64")

    @cached_property
    def _leaves(self) -> list[Search]:
        pairs = zip(self.bounds[:-1], self.bounds[1:], strict=True)
        return [Search(self.features[start:stop], self.settings.distance, by_lists=False) for start, stop in pairs]

    def leaves(self, queries: Queries) -> tuple[Rows, NDArray[np.int64]]:
        """Return the prepared features of queries, (m, d), and the number of each query's leaf, (m,)."""
        rows = self.prepared(queries)
        return rows, descend(rows, self.thresholds, self.seed[0])

    def scores(self, queries: Queries) -> Matrix:
        rows, leaf_of_query = self.leaves(queries)
        scores = np.empty((len(leaf_of_query), self.n_labels), dtype=np.float32)
        for leaf in np.unique(leaf_of_query).tolist():
            here = np.flatnonzero(leaf_of_query == leaf)
            labels = self.labels.slice(self.bounds[leaf], self.bounds[leaf + 1])
            scores[here] = self.scores_among(self._leaves[leaf], rows[here], labels)
        return scores

    def arrays(self) -> dict[str, NDArray[Any]]:
        return super().arrays() | {"bounds": self.bounds, "thresholds": self.thresholds, "seed": self.seed}

    @classmethod
    def fields_of(cls, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        return super().fields_of(arrays) | {name: arrays[name] for name in ("bounds", "thresholds", "seed")}


class RandomProjectionTree(FeatureControl):
    """A random projection tree, grown from the training images that have features."""

    settings_type = TreeSettings
    is_random = True

    def model(self) -> ProjectionTree:
        seen = see(self.problem, self.settings)
        rows = prepare(seen.rows, self.settings.distance)
        seed = new_state(self.problem.seed, Stream.DIRECTIONS)
        levels = min(self.settings.levels, seen.labels.n_rows.bit_length() - 1)
        order, bounds, thresholds = grow(rows, levels, seed[0])
        labels, key = seen.labels.rows(order), second_key_of(seen.labels, self.settings)
        return ProjectionTree(rows[order], labels, key, self.settings, seen.normalisation, bounds, thresholds, seed)


MODELS = {"random_projection_tree": ProjectionTree}
METHODS = {"random_projection_tree": RandomProjectionTree}
