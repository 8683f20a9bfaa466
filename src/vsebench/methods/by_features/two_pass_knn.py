"""2PKNN, two-pass nearest neighbours: the nearest images with each label are found first, then all of them vote.

    first pass    U(i) = union over the labels l of the K1 images nearest to i among the training images with l
    second pass   score of l for i = sum over the images j in U(i) with l of exp(-s (D(i, j) - D_i)),
                  D(i, j) = sum over the sets of features b of v_b d_b(i, j),   sum of v_b = 1

d_b are the base distances of the module `base_distances`. Each is divided by its mean over pairs of training images, so
the mean of D is 1. K1 is the setting `per_label`, and s is `sharpness`. The union gets as many images for a rare label
as for a frequent one.

D_i is the smallest D(i, j) of all images j in U(i). The paper does not subtract D_i; without the subtraction, the
scores of an image that is far from all others would be rounded to 0. The subtraction does not change the order of an
image's labels. But unlike the scores in the paper, the scores of different images cannot be compared. Some
implementations divide the scores of each label by their maximum over the test images. This is not done here, because
the scores of an image would then depend on the other test images.

`two_pass_knn` has equal weights v_b. `two_pass_knn_ml` learns the weights with a large-margin loss on at most `images`
training images p. It sets v_b = w_b / sum of w, where the w_b >= 0 minimise the sum, over all p and all targets q of p,
of

    l_pq D'(p, q) + m sum over the impostors r of p of (1 - l_pr) [1 + D'(p, q) - D'(p, r)]_+,
    l_pq = |Y_p and Y_q| / |Y_q|,   Y_p: the labels of image p,   D' = sum over b of w_b d_b

Here m is the setting `push`. For each label l of p, the K1 images nearest to p among those with l are targets of p. For
each label that p does not have, the K1 nearest images with this label are impostors of p. The nearest images are found
by the distance with equal weights, and p itself is left out. The hinge [z]_+ is max(0, z), but smoothed: it is
quadratic for z between 0 and 0.1. The minimum is found by L-BFGS with bounds. The paper also learns weights of single
features; these are not learnt here, so with one set of features there is nothing to learn.

Source: Verma and Jawahar, "Image annotation using metric learning in semantic neighbourhoods", ECCV 2012, sections 3
and 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.data.chunks import even_chunks
from vsebench.data.features import Block, Rows
from vsebench.data.problem import Ids, LabelMatrix, Matrix, Queries
from vsebench.kernels.losses.neighbour_margins import margin_loss
from vsebench.kernels.ranking.neighbours import add_votes, take_in_turns
from vsebench.methods.base import Solved
from vsebench.methods.by_features.base_distances import (
    DistanceModel,
    blocks_of,
    column_factors,
    least_weights,
    mean_distances,
    multiplied,
    part_of,
    squared_distances,
    unit_rows,
)
from vsebench.methods.by_features.neighbours import Numbers, Search
from vsebench.methods.by_features.seen import FeatureControl, FeatureSettings, see

NEIGHBOURS_A_CHUNK = 1 << 22  # number of neighbours in memory at once (about 100 MiB)
SMOOTHING = 0.1  # where the smoothed hinge becomes linear
ACCEPTED_GRADIENT = 1e-3  # with a gradient of the mean loss up to this, the result counts as the minimum
ITERATIONS = 200  # maximum number of iterations of L-BFGS, which has one variable for each set of features


class TwoPassSettings(FeatureSettings):
    """Settings of 2PKNN."""

    per_label: int = Field(default=4, ge=1)  # K1, number of nearest images for each label (all if there are fewer)
    sharpness: float = Field(default=20.0, gt=0)  # s, the factor of the distance D; the mean of D is 1


class MarginSettings(TwoPassSettings):
    """Settings of 2PKNN with learnt weights of the base distances."""

    push: float = Field(default=1.0, gt=0)  # m, the weight of the loss of impostors that are too near
    # number of training images p from which the weights are learnt (all if there are fewer); these images are spread
    # evenly over the data set
    images: int = Field(default=2000, ge=1)


@dataclass(frozen=True)
class TwoPassModel(DistanceModel):
    """Scores labels by the votes of each label's nearest images."""

    kind: ClassVar[str] = "two_pass_knn"
    settings_type = TwoPassSettings

    @cached_property
    def _images_of_label(self) -> list[Ids]:
        return images_of_labels(self.labels)

    def scores(self, queries: Queries) -> Matrix:
        rows = self.prepared(queries)
        scores = np.zeros((rows.shape[0], self.n_labels))
        size = sum(min(len(images), self.settings.per_label) for images in self._images_of_label)
        for start, stop in even_chunks(rows.shape[0], max(NEIGHBOURS_A_CHUNK // max(size, 1), 1)):
            self._vote(rows[start:stop], scores[start:stop])
        return scores.astype(np.float32)

    def _vote(self, rows: Rows, scores: Numbers) -> None:
        """Add the votes of the nearest images to the scores of queries.

        `rows`, (m, d), contains the prepared features of the queries. `scores` has shape (m, n_labels).
        """
        near = []
        for images in self._images_of_label:
            if len(images):
                search = Search(self.features[images], "euclidean")
                found, _ = search.nearest(rows, min(self.settings.per_label, len(images)))
                near.append(images[found])
        union = np.sort(np.concatenate(near, axis=1), axis=1)
        distances = squared_distances(self._search, rows, union)
        weights = np.exp(-self.settings.sharpness * (distances - distances.min(axis=1, keepdims=True)))
        weights[:, 1:][union[:, 1:] == union[:, :-1]] = 0  # an image votes once
        add_votes(scores, union, weights, self.labels.offsets, self.labels.label_of_pair)


def images_of_labels(labels: LabelMatrix) -> list[Ids]:
    """Return the images that have each label.

    The result contains an int32 array for each label, with the numbers of the label's images in ascending order.
    """
    order = np.argsort(labels.label_of_pair, kind="stable")
    ends = np.cumsum(np.bincount(labels.label_of_pair, minlength=labels.n_labels))
    return np.split(labels.image_of_pair[order], ends[:-1])


@dataclass(frozen=True)
class Pairs:
    """Pairs of a training image p and one of its targets or impostors.

    Attributes
    ----------
    offsets : (m + 1,) int64, where the pairs of each of the m images p start
    distances : (n_sets, n_pairs) float64, the base distances
    likeness : (n_pairs,) float64, l_pq or l_pr: the share of the other image's labels that p has, too
    """

    offsets: NDArray[np.int64]
    distances: Numbers
    likeness: Numbers


def pairs_of(
    rows: Rows, blocks: Sequence[Block], labels: LabelMatrix, chosen: Ids, per_label: int
) -> tuple[Pairs, Pairs]:
    """Return the pairs of training images with their targets, and the pairs with their impostors.

    Parameters
    ----------
    rows : (n, d), each set of features scaled to unit length, then multiplied by the factors for equal weights
    labels : n rows, the images' labels
    chosen : (m,) int32, the images p, ascending
    per_label : K1, the number of targets or impostors for each label
    """
    carries = np.zeros((len(chosen), labels.n_labels), dtype=np.bool_)
    own = labels.rows(chosen)
    carries[own.image_of_pair, own.label_of_pair] = True
    found: tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]] = ([], [])  # p's position times n plus q
    for label, images in enumerate(images_of_labels(labels)):
        for members, keys in zip((True, False), found, strict=True):
            asking = np.flatnonzero(carries[:, label] == members)
            k = min(per_label, len(images) - members)  # an image is not its own target
            if k > 0 and len(asking):
                near = nearest_of(rows, images, chosen[asking], k)
                keys.append((asking[:, np.newaxis] * labels.n_rows + near).ravel())
    searches = [Search(part_of(rows, block), "euclidean") for block in blocks]
    targets, impostors = (_pairs(keys, searches, rows, blocks, labels, chosen) for keys in found)
    return targets, impostors


def nearest_of(rows: Rows, images: Ids, asking: Ids, k: int) -> NDArray[np.int64]:
    """Return the k nearest images of each image in `asking`, (m, k).

    Only the images in `images` are searched, and no image is its own neighbour.
    """
    search, queries = Search(rows[images], "euclidean"), rows[asking]
    position = np.searchsorted(images, asking).clip(max=len(images) - 1)
    own = np.where(images[position] == asking, position, -1).astype(np.int32)
    near, _ = search.nearest(queries, min(k + int((own >= 0).any()), len(images)))
    order = np.argsort(squared_distances(search, queries, near), axis=1, kind="stable")
    merged = take_in_turns(np.take_along_axis(near, order, axis=1)[np.newaxis], own, len(images), k)
    return np.asarray(images[merged], dtype=np.int64)


def _pairs(
    keys: list[NDArray[np.int64]],
    searches: Sequence[Search],
    rows: Rows,
    blocks: Sequence[Block],
    labels: LabelMatrix,
    chosen: Ids,
) -> Pairs:
    """Return the pairs that `keys` contains, without repeats.

    The key of a pair of images p and q is the position of p in `chosen`, times the number of images, plus q.
    """
    different = np.unique(np.concatenate([*keys, np.empty(0, dtype=np.int64)]))
    position, image = np.divmod(different, labels.n_rows)
    offsets = np.searchsorted(position, np.arange(len(chosen) + 1)).astype(np.int64)
    distances, shared = np.empty((len(blocks), len(different))), np.empty(len(different))
    has = np.zeros(labels.n_labels, dtype=np.bool_)
    for p, (start, stop) in enumerate(pairwise(offsets)):
        near = image[start:stop].astype(np.int32)
        for number, (search, block) in enumerate(zip(searches, blocks, strict=True)):
            query = part_of(rows[chosen[p : p + 1]], block)
            distances[number, start:stop] = squared_distances(search, query, near[np.newaxis])[0]
        has[:] = False
        has[labels.label_of_pair[labels.offsets[chosen[p]] : labels.offsets[chosen[p] + 1]]] = True
        of_near = labels.rows(near)
        shared[start:stop] = np.bincount(of_near.image_of_pair, has[of_near.label_of_pair], minlength=len(near))
    return Pairs(offsets, distances, shared / labels.n_labels_of_row[image])


def margin_objective(weight: Numbers, targets: Pairs, impostors: Pairs, push: float) -> tuple[float, Numbers]:
    """Return the mean loss of the images p at the weights w, and its derivative with respect to w.

    `weight` contains w. It has shape (n_sets,), and so does the derivative.
    """
    slopes = np.empty(len(targets.likeness)), np.empty(len(impostors.likeness))
    value = margin_loss(
        weight @ targets.distances, targets.likeness, targets.offsets,
        weight @ impostors.distances, 1 - impostors.likeness, impostors.offsets, push, SMOOTHING, slopes,
    )  # fmt: skip
    n_images = len(targets.offsets) - 1
    return value / n_images, (targets.distances @ slopes[0] + impostors.distances @ slopes[1]) / n_images


class TwoPassKnn(FeatureControl):
    """2PKNN with equal weights of the base distances, fitted to the training images that have features."""

    settings_type = TwoPassSettings
    settings: TwoPassSettings

    def model(self) -> TwoPassModel:
        seen = see(self.problem, self.settings)
        blocks = blocks_of(seen.normalisation, seen.rows.shape[1])
        rows = unit_rows(seen.rows, blocks)
        means = mean_distances(rows, blocks)
        share = self.shares(multiplied(rows, column_factors(blocks, 1 / means)), blocks, seen.labels)
        factors = column_factors(blocks, share / means)
        settings = TwoPassModel.settings_to_keep(self.settings)
        return TwoPassModel(multiplied(rows, factors), factors, seen.labels, settings, seen.normalisation)

    def shares(self, rows: Rows, blocks: Sequence[Block], labels: LabelMatrix) -> Numbers:
        """Return the weights v_b of the base distances, (n_sets,); they add up to 1."""
        return np.full(len(blocks), 1 / len(blocks))


class TwoPassKnnMl(TwoPassKnn):
    """2PKNN with learnt weights of the base distances, fitted to the training images that have features."""

    settings_type = MarginSettings
    settings: MarginSettings

    def shares(self, rows: Rows, blocks: Sequence[Block], labels: LabelMatrix) -> Numbers:
        equal = super().shares(rows, blocks, labels)
        if len(blocks) == 1:
            return equal
        n_images = min(self.settings.images, labels.n_rows)
        chosen = np.unique(np.linspace(0, labels.n_rows - 1, n_images).astype(np.int32))
        targets, impostors = pairs_of(rows, blocks, labels, chosen, self.settings.per_label)
        weight, self.solved = best_weight(equal, targets, impostors, self.settings.push)
        return weight / weight.sum() if weight.sum() > 0 else equal


def best_weight(start: Numbers, targets: Pairs, impostors: Pairs, push: float) -> tuple[Numbers, Solved]:
    """Return the weights w >= 0, (n_sets,), with the smallest loss, and how the minimisation ended."""
    return least_weights(margin_objective, start, (targets, impostors, push), ITERATIONS, ACCEPTED_GRADIENT)


MODELS = {"two_pass_knn": TwoPassModel}
METHODS = {"two_pass_knn": TwoPassKnn, "two_pass_knn_ml": TwoPassKnnMl}
