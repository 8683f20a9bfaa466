"""Simulate images with one label each; labels are the leaves of a tree, and features are counts of terms.

    labels            y = 0 .. labels - 1, parent(y) = floor(y / children), top(y) = floor(parent(y) / parents)
    background        q0(t) ~ 1 / (rank of term t + 10), ranks in random order
    node v            a top node, a parent, a label, or a view of a label; its distribution q_v has `terms_per_node`
                      terms, drawn without replacement, whose weights are independent exponential numbers, scaled to add
                      up to 1
    view r of label y p_yr = w0 q0 + w1 q_top(y) + w2 q_parent(y) + w3 q_y + w4 q_yr,   w0 + .. + w4 = 1
    image             true label u ~ pi, view r uniform, length T = max(1, Poisson(length)), counts of terms
                      ~ Multinomial(T, p_ur); the given label is u or, with probability `confusion`, another child
                      of u's parent, drawn uniformly

where pi_u ~ (rank of u)^-exponent with ranks in random order; with exponent 0, pi is uniform. A label is named by its
path from the top node, such as `3/17/172`; the setting `siblings: label-paths` derives siblings from these names. If
the true label has no siblings, it is always the given label. In the row `image`, `~` means "is drawn from"; in all
other formulas, it means "is proportional to".

The exact posterior of the true label follows from the counts x_t:

    a_ur(x) = sum over t of x_t log(p_ur(t) / (w0 q0(t))),   P(u | x) ~ pi_u (1/views) sum over r of exp(a_ur(x))

The logarithm is 0 for every term that belongs to no node on the path from the top node to view r of label u.
Therefore, the logarithms are stored as a sparse matrix, terms x views. The methods `oracle` and `group_oracle` use this
matrix.

Images are drawn in blocks, each with its own stream of random numbers, so a larger set begins with the images of a
smaller one.

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
from vsebench.data.streams import generator
from vsebench.formats.annotations import RawAnnotations, count_pairs, image_ids
from vsebench.formats.simulators.simulated_images import SimulatedOptions

KNOWS = frozenset({"truth", "tree"})  # needs (`vsebench.data.needs`) that only a simulator can meet
BLOCK = 1000  # number of images per block; another number would give different images
TREE, IMAGES = 0, 1  # random streams, all derived from the seed


class Shares(Strict):
    """Options: shares of an image's terms that come from the background and from each node; the shares add up to 1."""

    background: float = Field(gt=0)  # w0, share of background terms, which are common to all images
    top: float = Field(ge=0)  # w1, share of the top node's terms
    parent: float = Field(ge=0)  # w2, share of the parent's terms
    label: float = Field(ge=0)  # w3, share of the label's terms
    view: float = Field(ge=0)  # w4, share of the view's terms

    @model_validator(mode="after")
    def _whole(self) -> "Shares":
        if abs(sum(self.values()) - 1) > 1e-9:
            raise PydanticCustomError("shares", "the shares must add up to 1")
        return self

    def values(self) -> list[float]:
        """Return the shares in the order w0, ..., w4."""
        return [self.background, self.top, self.parent, self.label, self.view]


class Options(SimulatedOptions):
    """Options: the tree of labels and the distribution of terms; see the module's formulas."""

    labels: int = Field(ge=2)  # number of labels, the leaves of the tree
    children: int = Field(ge=1)  # number of labels per parent; the last parent may have fewer
    parents: int = Field(ge=1)  # number of parents below each top node of the tree; the last top node may have fewer
    terms: int = Field(ge=1)  # number of distinct terms, which are the features
    terms_per_node: int = Field(ge=1)  # number of terms drawn for each top node, parent, label, and view of a label
    views: int = Field(ge=1)  # number of views per label: kinds of images, each with its own terms
    shares: Shares  # shares of an image's terms by origin; they add up to 1
    length: float = Field(gt=0)  # mean number of terms per image
    confusion: float = Field(ge=0, le=0.5)  # probability that the given label is a sibling of the true label
    exponent: float = Field(default=0.0, ge=0)  # exponent of the ranks in the labels' frequencies; 0: equal frequencies
    features: Literal["sparse"]  # how features are stored

    @model_validator(mode="after")
    def _enough_terms(self) -> "Options":
        if self.terms_per_node > self.terms:
            raise PydanticCustomError("terms", "terms_per_node: must not be larger than `terms`")
        return self


def read(raw: Path, options: Options) -> RawAnnotations:
    """Draw a data set; `raw` is not used. The same options give the same data set.

    Images are drawn in blocks, without making a dense array of images x terms or images x labels.
    """
    tree, n_images = Tree(options), options.n_images
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
    """The distributions from which images are drawn.

    The nodes are numbered in this order: top nodes, parents, labels, and the views of each label.
    """

    options: Options

    @cached_property
    def sizes(self) -> list[int]:
        """The numbers of top nodes, parents, labels and views."""
        options = self.options
        n_parents = -(-options.labels // options.children)
        return [-(-n_parents // options.parents), n_parents, options.labels, options.labels * options.views]

    @cached_property
    def path(self) -> NDArray[np.int64]:
        """The numbers of the top node, parent, label and view on the path to each view, (labels * views, 4)."""
        view = np.arange(self.sizes[3])
        label = view // self.options.views
        parent = label // self.options.children
        first = np.concatenate([[0], np.cumsum(self.sizes[:3])])
        return np.asarray(np.stack([parent // self.options.parents, parent, label, view], axis=1) + first)

    @cached_property
    def drawn(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """The random parameters of the distributions: four arrays.

        - the background distribution q0, (terms,)
        - log pi, the logarithms of the labels' probabilities, (labels,)
        - the terms of each node, (n_nodes, terms_per_node)
        - the weights of these terms in the node's distribution, (n_nodes, terms_per_node)
        """
        options, rng = self.options, generator(self.options.seed, TREE)
        background = 1 / (rng.permutation(options.terms) + 10.0)
        log_prior = -options.exponent * np.log1p(rng.permutation(options.labels))
        n_nodes, size = sum(self.sizes), options.terms_per_node
        terms = np.stack([rng.choice(options.terms, size, replace=False) for _ in range(n_nodes)])
        weights = rng.standard_exponential((n_nodes, size))
        log_prior -= np.log(np.exp(log_prior).sum())
        return background / background.sum(), log_prior, terms, weights / weights.sum(axis=1, keepdims=True)

    @cached_property
    def cumulative(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Cumulative sums of the shares, of the background, and of each node's weights.

        The third array contains the sums of all nodes, one node after the other. The number of the node is added to
        each sum, so the array is in ascending order.
        """
        background, _, _, weights = self.drawn
        of_nodes = np.cumsum(weights, axis=1) + np.arange(len(weights))[:, None]
        of_nodes[:, -1] = np.arange(1, len(weights) + 1)
        return np.cumsum(self.options.shares.values()), np.cumsum(background), of_nodes.ravel()

    def draw(self, block: int) -> tuple[Any, NDArray[np.int32]]:
        """Draw the block of images with the number `block`; return the counts of terms, and the given labels.

        The counts are a CSR matrix, (BLOCK, terms) float32. The labels are an array, (BLOCK,) int32.
        """
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
        """Draw one term for each entry of `view`; an entry is the number of a view, counted over all labels."""
        shares, background, of_nodes = self.cumulative
        origin = np.minimum(np.searchsorted(shares, rng.random(len(view)), side="right"), 4)  # 0: the background
        uniform = rng.random(len(view))
        terms = np.minimum(np.searchsorted(background, uniform, side="right"), self.options.terms - 1)
        is_own = origin > 0
        node = self.path[view[is_own], origin[is_own] - 1]
        last = (node + 1) * self.options.terms_per_node - 1  # needed if node + uniform is rounded up
        entry = np.minimum(np.searchsorted(of_nodes, node + uniform[is_own], side="right"), last)
        terms[is_own] = self.drawn[2].ravel()[entry]
        return terms

    def confuse(self, true: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw the given label of each image: its true label, or a sibling of the true label."""
        options = self.options
        first = true // options.children * options.children
        n_siblings = np.minimum(options.children, options.labels - first) - 1
        wrong = (rng.random(len(true)) < options.confusion) & (n_siblings > 0)
        step = 1 + np.floor(rng.random(len(true)) * np.maximum(n_siblings, 1)).astype(np.int64)
        return np.asarray(np.where(wrong, first + (true - first + step) % (n_siblings + 1), true), dtype=np.int32)

    def names(self) -> list[str]:
        """Return the names of the labels: their paths from the top."""
        width = [len(str(size - 1)) for size in self.sizes]
        labels = np.arange(self.options.labels)
        parents = labels // self.options.children
        columns = zip(parents // self.options.parents, parents, labels, strict=True)
        return [f"{top:0{width[0]}d}/{parent:0{width[1]}d}/{label:0{width[2]}d}" for top, parent, label in columns]

    def truth(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that `oracle` and `group_oracle` read; see `methods.controls.tree_posterior`."""
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
        """Yield log(p_ur(t) / (w0 q0(t))) for each term t and each view r of a label u, in blocks of views.

        Each block is a CSC matrix of float64, with one row per term and one column for each of at most BLOCK views. The
        views are in ascending order.
        """
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
