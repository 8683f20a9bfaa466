"""Simulated images of one label each, whose labels are the leaves of a tree; features are counts of terms.

    labels            y = 0 .. labels - 1, parent(y) = floor(y / children), top(y) = floor(parent(y) / parents)
    background        q0(t) ~ 1 / (rank of term t + 10), ranks in random order
    node v            a top, a parent, a label, or one of a label's views: `terms_per_node` terms drawn without
                      replacement, with independent exponential weights that add up to 1, q_v
    view r of label y p_yr = w0 q0 + w1 q_top(y) + w2 q_parent(y) + w3 q_y + w4 q_yr,   w0 + .. + w4 = 1
    image             true label u ~ pi, view r uniform, length T = max(1, Poisson(length)), counts of terms
                      ~ Multinomial(T, p_ur); its given label is u or, with probability `confusion`, another child of
                      u's parent, drawn uniformly

where pi_u ~ (rank of u)^-exponent with ranks in random order; uniform for exponent 0. Names are the paths from the top,
`3/17/172`, so `siblings: label-paths` says which labels are siblings. A label without other children of its parent is
never confused.

The exact posterior of the true label follows from the counts x_t:

    a_ur(x) = sum over t of x_t log(p_ur(t) / (w0 q0(t))),   P(u | x) ~ pi_u (1/views) sum over r of exp(a_ur(x))

and the log ratio is 0 off the terms of the view's nodes, so the truth is a sparse matrix of terms x views (the rows
`oracle` and `group_oracle`).

`scale` multiplies the images. They are drawn in blocks, with a stream of random numbers for each, so a larger set
begins with the images of a smaller one. Of each `sum(parts)` images in a row the first `parts.train` train, the next
`parts.valid` validate, and the others are for the test.

Source: made for this project, after the setting of Weston, Bengio and Usunier, "Large scale image annotation", Machine
Learning 81(1), 2010: sparse counts of visual terms, one label per image, labels with siblings.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from scipy import sparse

from vsebench.core.yaml_files import Strict
from vsebench.data.features import Features
from vsebench.formats.annotations import RawAnnotations, count_pairs, image_ids
from vsebench.formats.simulators.simulated_images import Parts

KNOWS = frozenset({"truth", "tree"})  # needs (`vsebench.data.needs`) that only a simulator can satisfy
BLOCK = 1000  # images; part of the definition: another size draws other images
TREE, IMAGES = 0, 1  # streams of the seed


class Shares(Strict):
    """How much of an image's terms is from where; they add up to 1."""

    background: float = Field(gt=0)  # w0, common to all images
    top: float = Field(ge=0)  # w1
    parent: float = Field(ge=0)  # w2
    label: float = Field(ge=0)  # w3
    view: float = Field(ge=0)  # w4

    @model_validator(mode="after")
    def _whole(self) -> "Shares":
        if abs(sum(self.values()) - 1) > 1e-9:
            raise PydanticCustomError("shares", "the shares should add up to 1")
        return self

    def values(self) -> list[float]:
        """Return w0 to w4."""
        return [self.background, self.top, self.parent, self.label, self.view]


class Options(Strict):
    """Size and shape of a simulated tree and of its images; see the formulas of the module."""

    images: int = Field(ge=1)  # before `scale`
    labels: int = Field(ge=2)  # the leaves of the tree
    children: int = Field(ge=1)  # labels of a parent; the last may have fewer
    parents: int = Field(ge=1)  # parents of a top
    terms: int = Field(ge=1)  # different ones, which are the features
    terms_per_node: int = Field(ge=1)  # that a top, a parent, a label or a view draws
    views: int = Field(ge=1)  # of a label
    shares: Shares  # how much of an image's terms is from where; they add up to 1
    length: float = Field(gt=0)  # terms of an image, on average
    confusion: float = Field(ge=0, le=0.5)  # the chance that the given label is another one of the same parent
    exponent: float = Field(default=0.0, ge=0)  # of the labels' frequencies by rank; 0: all are equal
    parts: Parts  # how images are dealt to the official partition, in rounds
    features: Literal["sparse"]  # how they are kept
    scale: float = Field(default=1.0, gt=0)  # multiplies the images
    seed: int = Field(default=0, ge=0)  # of the draw

    @model_validator(mode="after")
    def _enough_terms(self) -> "Options":
        if self.terms_per_node > self.terms:
            raise PydanticCustomError("terms", "terms_per_node: a node cannot have more terms than there are")
        return self


def read(raw: Path, options: Options) -> RawAnnotations:
    """Draw a set; `raw` is not read. The same options give the same set.

    Images are drawn in blocks, and nothing of the size of images x terms or images x labels is made dense.
    """
    tree, n_images = Tree(options), max(1, round(options.images * options.scale))
    blocks, given = [], np.empty(n_images, dtype=np.int32)
    for number, start in enumerate(range(0, n_images, BLOCK)):
        counts, labels = tree.draw(number)
        size = min(BLOCK, n_images - start)
        blocks.append(counts[:size])
        given[start : start + size] = labels[:size]
    values = sparse.vstack(blocks, format="csr")
    images = np.arange(n_images, dtype=np.int32)
    return RawAnnotations(
        images=image_ids(f"image-{image + 1}" for image in images),
        labels=tree.names(),
        pairs=count_pairs(images, given, options.labels),
        parts=options.parts.of(n_images),
        features=Features(values, np.ones(n_images, dtype=bool)),
        truth=tree.truth(),
    )


@dataclass(frozen=True)
class Tree:
    """The distributions that images are drawn from.

    Nodes are numbered: tops, then parents, labels, and the views of each label one after the other.
    """

    options: Options

    @cached_property
    def sizes(self) -> list[int]:
        """Number of tops, parents, labels and views."""
        options = self.options
        n_parents = -(-options.labels // options.children)
        return [-(-n_parents // options.parents), n_parents, options.labels, options.labels * options.views]

    @cached_property
    def path(self) -> NDArray[np.int64]:
        """(labels * views, 4): the nodes above each view and its own, from the top."""
        view = np.arange(self.sizes[3])
        label = view // self.options.views
        parent = label // self.options.children
        first = np.concatenate([[0], np.cumsum(self.sizes[:3])])
        return np.asarray(np.stack([parent // self.options.parents, parent, label, view], axis=1) + first)

    @cached_property
    def drawn(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """The background (terms,), log pi (labels,), and the terms of each node with their weights."""
        options, rng = self.options, np.random.default_rng([self.options.seed, TREE])
        background = 1 / (rng.permutation(options.terms) + 10.0)
        log_prior = -options.exponent * np.log1p(rng.permutation(options.labels))
        n_nodes, size = sum(self.sizes), options.terms_per_node
        terms = np.stack([rng.choice(options.terms, size, replace=False) for _ in range(n_nodes)])
        weights = rng.standard_exponential((n_nodes, size))
        log_prior -= np.log(np.exp(log_prior).sum())
        return background / background.sum(), log_prior, terms, weights / weights.sum(axis=1, keepdims=True)

    @cached_property
    def cumulative(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Sums to draw from: of the shares, of the background, and of each node's weights plus the node's number."""
        background, _, _, weights = self.drawn
        of_nodes = np.cumsum(weights, axis=1) + np.arange(len(weights))[:, None]
        of_nodes[:, -1] = np.arange(1, len(weights) + 1)
        return np.cumsum(self.options.shares.values()), np.cumsum(background), of_nodes.ravel()

    def draw(self, block: int) -> tuple[Any, NDArray[np.int32]]:
        """Draw a block of images: counts of terms, CSR (BLOCK, terms) float32, and given labels, (BLOCK,) int32."""
        options, rng = self.options, np.random.default_rng([self.options.seed, IMAGES, block])
        prior = np.cumsum(np.exp(self.drawn[1]))
        true = np.minimum(np.searchsorted(prior, rng.random(BLOCK), side="right"), options.labels - 1)
        view = true * options.views + rng.integers(options.views, size=BLOCK)
        lengths = np.maximum(1, rng.poisson(options.length, BLOCK))
        image = np.repeat(np.arange(BLOCK), lengths)
        term = self.draw_terms(view[image], rng)
        counts = sparse.coo_array((np.ones(len(term), np.float32), (image, term)), shape=(BLOCK, options.terms)).tocsr()
        counts.sort_indices()
        return counts, self.confuse(true, rng)

    def draw_terms(self, view: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw one term for each entry of `view`."""
        shares, background, of_nodes = self.cumulative
        origin = np.minimum(np.searchsorted(shares, rng.random(len(view)), side="right"), 4)  # 0: the background
        place = rng.random(len(view))
        found = np.minimum(np.searchsorted(background, place, side="right"), self.options.terms - 1)
        own = origin > 0
        node = self.path[view[own], origin[own] - 1]
        last = (node + 1) * self.options.terms_per_node - 1  # where a sum of node and place is rounded up
        entry = np.minimum(np.searchsorted(of_nodes, node + place[own], side="right"), last)
        found[own] = self.drawn[2].ravel()[entry]
        return found

    def confuse(self, true: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Return the given labels of images with these true labels."""
        options = self.options
        first = true // options.children * options.children
        others = np.minimum(options.children, options.labels - first) - 1
        wrong = (rng.random(len(true)) < options.confusion) & (others > 0)
        step = 1 + np.floor(rng.random(len(true)) * np.maximum(others, 1)).astype(np.int64)
        return np.asarray(np.where(wrong, first + (true - first + step) % (others + 1), true), dtype=np.int32)

    def names(self) -> list[str]:
        """Return the labels' names, their paths from the top."""
        width = [len(str(size - 1)) for size in self.sizes]
        labels = np.arange(self.options.labels)
        parents = labels // self.options.children
        columns = zip(parents // self.options.parents, parents, labels, strict=True)
        return [f"{top:0{width[0]}d}/{parent:0{width[1]}d}/{label:0{width[2]}d}" for top, parent, label in columns]

    def truth(self) -> dict[str, NDArray[Any]]:
        """Return what the oracles read; see `methods.tree_posterior`."""
        options, ratios = self.options, sparse.csr_array(sparse.hstack(list(self.log_ratios()), format="csr"))
        return {
            "label": np.arange(options.labels, dtype=np.int32),
            "parent": (np.arange(options.labels) // options.children).astype(np.int32),
            "log_prior": self.drawn[1],
            "confusion": np.array(options.confusion),
            "views": np.array(options.views),
            "ratio_data": ratios.data,
            "ratio_indices": ratios.indices.astype(np.int32),
            "ratio_offsets": ratios.indptr.astype(np.int64),
        }

    def log_ratios(self) -> Iterator[Any]:
        """Yield log(p_ur / (w0 q0)) as CSC, (terms, views of a block of labels) float64, label by label."""
        background, _, terms, weights = self.drawn
        shares, size = self.options.shares.values(), self.options.terms_per_node
        for start in range(0, len(self.path), BLOCK):
            path = self.path[start : start + BLOCK]
            column = np.repeat(np.arange(len(path)), 4 * size)
            values = (weights[path] * np.array(shares[1:])[:, None]).ravel()
            rows = terms[path].ravel()
            block = sparse.coo_array((values, (rows, column)), shape=(len(background), len(path))).tocsc()
            block.data = np.log1p(block.data / (shares[0] * background[block.indices]))
            yield block
