"""TagProp: weighted votes of the nearest images, with weights that maximise the likelihood of the training labels.

    x_il = sum over the K nearest images j of pi_ij y_jl,   y_jl = 1 if image j has label l, else 0
    pi_ij = exp(-w . d_ij) / sum over j' of exp(-w . d_ij')     (weights by distance)
    pi_ij = exp(-w_r) / sum over r' of exp(-w_r')               (weights by rank: j is the r-th nearest image)

    tagprop        p(l | i) = eps + (1 - 2 eps) x_il,   eps = 1e-5
    tagprop_sigma  p(l | i) = 1 / (1 + exp(-(alpha_l x_il + beta_l)))

x_il is the sum of the votes for label l by the K images nearest to image i, and p(l | i) is the probability that image
i has the label. The vector d_ij contains the base distances between images i and j, one for each set of features
(module `base_distances`). Each distance is divided by its mean over pairs of training images. Each set of features
gives a ranking of the neighbours; the K nearest images are taken from these rankings in turn.

The weights w >= 0 minimise the loss below. `tagprop_sigma` also fits alpha and beta, alternately with w.

    - sum over training images i and labels l of c_il log p(y_il) + penalty,
    penalty = a / 2 sum over l of n_l / n+ (alpha_l^2 + beta_l^2)

Here a training image i is not among its own neighbours. p(y_il) is p(l | i) if i has l, and 1 - p(l | i) otherwise.
c_il is 1 / n+ if i has l, and 1 / n- otherwise. n+ and n- are the numbers of positive and of negative pairs of a
training image and a label, and n_l is the number of training images with label l.

Only `tagprop_sigma` has the penalty, in which a is the setting `regularisation`. The penalty is not in the paper.
Without it, the loss has no minimum in alpha_l if the votes separate the images with label l from all others.

w is found by L-BFGS with bounds. alpha and beta are found by Newton's method for each label. At the start, each weight
in w is 10 divided by the number of sets of features, or 0 for weights by rank. alpha starts at 0, and beta_l at
log(c n_l / (c' (n - n_l))), where n is the number of training images, c = 1 / n+ and c' = 1 / n-. `tagprop_sigma` first
fits w as `tagprop` does. The loss is convex in alpha and beta. In w, it may have several minima, and the one that
L-BFGS reaches is used.

Source: Guillaumin, Mensink, Verbeek and Schmid, "TagProp: discriminative metric learning in nearest neighbor models for
image auto-annotation", ICCV 2009, section 3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.data.features import Block, Rows
from vsebench.data.problem import Ids, LabelMatrix, Matrix, Queries
from vsebench.kernels.losses.neighbour_votes import negative_log_likelihood, sigmoid_sums
from vsebench.kernels.ranking.neighbours import add_votes, take_in_turns
from vsebench.methods.base import Size, Solved
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

Weights: TypeAlias = Literal["distance", "rank"]

START = 10.0  # sum of the weights w of distances at the start
ACCEPTED_GRADIENT = 1e-4  # with a gradient up to this, the result counts as the minimum; the loss is about 1 to 20
SMALL_DECREASE = 1e-5  # the fit ends when a turn (alpha and beta, then w) lowers the loss by less than this share
NEWTON_STEPS = 50  # maximum number of steps of Newton's method, including those that are too long and are halved
SMALL_STEP = 1e-8  # Newton's method ends when the next step would lower each label's loss by less than this share


class TagPropSettings(FeatureSettings):
    """Settings of TagProp."""

    neighbours: int = Field(default=200, ge=1)  # K, number of nearest images (all if there are fewer)
    weights: Weights = "distance"  # what a neighbour's weight depends on: its base distances, or its rank
    iterations: int = Field(default=100, ge=1)  # maximum number of iterations of L-BFGS for w


class SigmaSettings(TagPropSettings):
    """Settings of TagProp with a sigmoid for each label."""

    regularisation: float = Field(default=1e-4, gt=0)  # the penalty `a` on the squares of alpha and beta
    turns: int = Field(default=10, ge=1)  # maximum number of turns; each fits alpha and beta, then w


@dataclass(frozen=True)
class TagPropModel(DistanceModel):
    """Scores labels by weighted votes, with or without sigmoids.

    Attributes
    ----------
    weight : (n_sets,) float64, the weights w of the distances, or (K,) float64, the weights w of the ranks
    alpha, beta : (n_labels,) float64 each, the parameters of the sigmoids; without sigmoids, both are empty
    """

    kind: ClassVar[str] = "tagprop"
    settings_type = TagPropSettings
    weight: Numbers
    alpha: Numbers
    beta: Numbers

    def __post_init__(self) -> None:
        super().__post_init__()
        k = min(self.settings.neighbours, self.labels.n_rows)
        check_numbers(self.weight, "weight", (k,) if self.settings.weights == "rank" else (len(self.blocks),))
        n_sigmoids = self.n_labels if len(self.alpha) else 0
        for name in ("alpha", "beta"):
            check_numbers(getattr(self, name), name, (n_sigmoids,))

    def votes(self, queries: Queries) -> Numbers:
        """Return the sum of the votes for each label by the neighbours of each query, (m, n_labels).

        This is x_il in the docstring of this module.
        """
        rows = self.prepared(queries)
        none = np.full(rows.shape[0], -1, dtype=np.int32)
        near, distances = neighbourhood(self._searches, rows, self.blocks, none, self.settings.neighbours)
        logits = logits_of(self.weight, distances, self.settings.weights)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        votes = np.zeros((len(near), self.n_labels))
        add_votes(votes, near, shares, self.labels.offsets, self.labels.label_of_pair)
        return votes

    @cached_property
    def _searches(self) -> list[Search]:
        return searches_of(self.features, self.blocks)

    def scores(self, queries: Queries) -> Matrix:
        votes = self.votes(queries)
        scores = self.alpha * votes + self.beta if len(self.alpha) else votes + self._second_key
        return scores.astype(np.float32)

    def largest_score(self) -> float:
        sigmoids = float(np.abs(self.alpha).max(initial=0) + np.abs(self.beta).max(initial=0))
        return super().largest_score() + sigmoids

    def arrays(self) -> dict[str, NDArray[Any]]:
        return super().arrays() | {"weight": self.weight, "alpha": self.alpha, "beta": self.beta}

    @classmethod
    def fields_of(cls, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        return super().fields_of(arrays) | {name: arrays[name] for name in ("weight", "alpha", "beta")}


def check_numbers(array: Numbers, name: str, shape: tuple[int, ...]) -> None:
    """Raise a `ValueError` unless `array` is float64, has the shape `shape`, and contains only finite numbers."""
    if array.dtype != np.float64 or array.shape != shape or not np.isfinite(array).all():
        raise ValueError(
            f"{name}: is {array.dtype} of shape {array.shape}, but must be float64 of shape {shape}, all finite"
        )


def searches_of(rows: Rows, blocks: tuple[Block, ...]) -> list[Search]:
    """Return a search for each set of features."""
    return [Search(part_of(rows, block), "euclidean") for block in blocks]


def neighbourhood(
    searches: list[Search], queries: Rows, blocks: tuple[Block, ...], own: Ids, k: int
) -> tuple[Ids, Numbers]:
    """Return the nearest rows of each query and their base distances.

    Neighbours are taken from the sets of features in turn: first the nearest row in each set, then the second nearest
    in each set, and so on. No row is taken twice.

    Parameters
    ----------
    searches : one for each set of features, each over n rows
    queries : (m, d), scaled and multiplied like the model's features
    own : (m,) int32, the row that is the query itself, or -1 if there is no such row
    k : number of neighbours; if there are fewer rows besides the query itself, all of these rows are taken

    Returns
    -------
    (m, k) int32, the numbers of the neighbours, in the order in which the neighbours were taken
    (n_sets, m, k) float64, the base distances from each query to its neighbours
    """
    n_rows, excluded = searches[0].rows.shape[0], int((own >= 0).any())
    found, k = min(k + excluded, n_rows), min(k, n_rows - excluded)
    parts = [part_of(queries, block) for block in blocks]
    near = np.empty((len(searches), queries.shape[0], found), dtype=np.int32)
    for number, (search, part) in enumerate(zip(searches, parts, strict=True)):
        rows, _ = search.nearest(part, found)
        # The numbers in a row of `rows` ascend, so of rows at the same distance, the first one counts as nearer.
        order = np.argsort(squared_distances(search, part, rows), axis=1, kind="stable")
        near[number] = np.take_along_axis(rows, order, axis=1)
    merged = take_in_turns(near, own, n_rows, k)
    distances = [squared_distances(search, part, merged) for search, part in zip(searches, parts, strict=True)]
    return merged, np.stack(distances)


def logits_of(weight: Numbers, distances: Numbers, weights: Weights) -> Numbers:
    """Return the logits of the neighbours' shares of the votes, (m, k).

    The shares of a query's neighbours are the softmax of the logits. `weight` contains the weights w of the distances
    or ranks, and `distances`, (n_sets, m, k), contains the base distances of the neighbours.
    """
    if weights == "rank":
        return np.tile(-weight, (distances.shape[1], 1))
    return np.asarray(-np.tensordot(weight, distances, axes=1))


@dataclass(frozen=True)
class Votes:
    """The votes of the training images' neighbours, and the loss as a function of the neighbours' weights.

    Attributes
    ----------
    near : (n, k) int32, the neighbours of each training image
    distances : (n_sets, n, k) float64, their base distances
    labels : n rows, the labels of the training images
    weights : what a neighbour's weight depends on: its base distances, or its rank
    """

    near: Ids
    distances: Numbers
    labels: LabelMatrix
    weights: Weights

    @property
    def costs(self) -> Numbers:
        """The weights of a negative pair and of a positive pair in the loss, (2,).

        Each weight is 1 divided by the number of such pairs.
        """
        positive = self.labels.n_pairs
        negative = self.labels.n_rows * self.labels.n_labels - positive
        return 1 / np.maximum([negative, positive], 1.0)

    def arguments(self, weight: Numbers) -> tuple[NDArray[Any], ...]:
        """Return the first arguments of the kernels that compute the loss.

        `weight` contains the weights w.
        """
        logits = np.ascontiguousarray(logits_of(weight, self.distances, self.weights))
        return logits, self.near, self.labels.offsets, self.labels.label_of_pair, self.costs

    def loss(self, weight: Numbers, alpha: Numbers, beta: Numbers) -> tuple[float, Numbers]:
        """Return the loss without the penalty, and the derivative of this loss with respect to `weight`."""
        slopes = np.empty(self.near.shape), np.empty(self.labels.n_labels)
        value = negative_log_likelihood(*self.arguments(weight), alpha, beta, slopes)
        if self.weights == "rank":
            return float(value), -slopes[0].sum(axis=0)
        return float(value), -np.einsum("bnk,nk->b", self.distances, slopes[0])

    def best_weight(self, start: Numbers, alpha: Numbers, beta: Numbers, iterations: int) -> tuple[Numbers, Solved]:
        """Return the best weights w >= 0 for the given alpha and beta, and how the minimisation ended.

        L-BFGS minimises the loss, starting from the weights `start`.
        """
        return least_weights(self.loss, start, (alpha, beta), iterations, ACCEPTED_GRADIENT)

    def constant_sigmoids(self) -> tuple[Numbers, Numbers]:
        """Return initial values of alpha and beta, (n_labels,) each.

        alpha is 0, and beta minimises the loss, without the penalty, for this alpha. For n training images, each
        label's number of images is clipped to [0.5, n - 0.5], which keeps beta finite.
        """
        n_images, (negative, positive) = self.labels.n_rows, self.costs
        counts = np.bincount(self.labels.label_of_pair, minlength=self.labels.n_labels).clip(0.5, n_images - 0.5)
        return np.zeros(len(counts)), np.log(positive * counts / (negative * (n_images - counts)))

    def best_sigmoids(
        self, weight: Numbers, alpha: Numbers, beta: Numbers, regularisation: float
    ) -> tuple[Numbers, Numbers, float, bool]:
        """Return the best alpha and beta, their loss, and whether Newton's method converged.

        The weights w stay at `weight`. The loss includes the penalty. Newton's method starts from the given alpha and
        beta.
        """
        arguments, sums = self.arguments(weight), np.empty((self.labels.n_labels, 6))
        counts = np.bincount(self.labels.label_of_pair, minlength=self.labels.n_labels)
        penalty = regularisation * np.maximum(counts, 1) / max(self.labels.n_pairs, 1)

        def penalised(alpha: Numbers, beta: Numbers) -> Numbers:
            sigmoid_sums(*arguments, alpha, beta, sums)
            sums[:, 0] += penalty / 2 * (alpha**2 + beta**2)
            sums[:, 1] += penalty * alpha
            sums[:, 2] += penalty * beta
            sums[:, [3, 5]] += penalty[:, np.newaxis]
            return sums.copy()

        state = penalised(alpha, beta)
        size, converged = np.ones(self.labels.n_labels), False
        for _ in range(NEWTON_STEPS):
            value, slope_a, slope_b, aa, ab, bb = state.T
            determinant = aa * bb - ab**2
            step_a = (bb * slope_a - ab * slope_b) / determinant
            step_b = (aa * slope_b - ab * slope_a) / determinant
            expected = slope_a * step_a + slope_b * step_b
            converged = bool((expected <= SMALL_STEP * value).all())
            if converged:
                break
            moved = penalised(alpha - size * step_a, beta - size * step_b)
            better = moved[:, 0] <= value - 1e-4 * size * expected
            alpha = np.where(better, alpha - size * step_a, alpha)
            beta = np.where(better, beta - size * step_b, beta)
            state = np.where(better[:, np.newaxis], moved, state)
            size = np.where(better, 1.0, size / 2)
        return alpha, beta, float(state[:, 0].sum()), converged


class TagProp(FeatureControl):
    """TagProp without sigmoids, fitted to the training images that have features."""

    settings_type = TagPropSettings
    settings: TagPropSettings

    @classmethod
    def least_memory(cls, size: Size, settings: TagPropSettings) -> int:
        neighbours = min(settings.neighbours, size.images - 1)
        return (8 + 8 + 4) * size.images * neighbours  # a distance, a logit and a row number for each neighbour

    def model(self) -> TagPropModel:
        seen = see(self.problem, self.settings)
        blocks, n_images = blocks_of(seen.normalisation, seen.rows.shape[1]), seen.labels.n_rows
        rows = unit_rows(seen.rows, blocks)
        factors = column_factors(blocks, 1 / mean_distances(rows, blocks))
        rows = multiplied(rows, factors)
        searches, images = searches_of(rows, blocks), np.arange(n_images, dtype=np.int32)
        near, distances = neighbourhood(searches, rows, blocks, images, self.settings.neighbours)
        votes = Votes(near, distances, seen.labels, self.settings.weights)
        by_rank = self.settings.weights == "rank"
        start = np.zeros(near.shape[1]) if by_rank else np.full(len(blocks), START / len(blocks))
        weight, alpha, beta = self.learn(votes, start)
        # Here, all images are neighbours. A training image is not its own, so a new image has one neighbour more.
        if by_rank and n_images <= self.settings.neighbours:
            weight = np.append(weight, weight.max(initial=0))
        settings = TagPropModel.settings_to_keep(self.settings)
        return TagPropModel(rows, factors, seen.labels, settings, seen.normalisation, weight, alpha, beta)

    def learn(self, votes: Votes, weight: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Fit w, alpha and beta, and return them.

        `weight` is the initial w. The attribute `solved` is set to a record of how the minimisation ended. Without
        sigmoids, alpha and beta are empty.
        """
        none = np.empty(0)
        if votes.near.shape[1] > 0:  # a single image has no neighbours to learn from
            weight, self.solved = votes.best_weight(weight, none, none, self.settings.iterations)
        return weight, none, none


class TagPropSigma(TagProp):
    """TagProp with a sigmoid for each label, fitted to the training images that have features."""

    settings_type = SigmaSettings
    settings: SigmaSettings

    def learn(self, votes: Votes, weight: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        weight, _, _ = super().learn(votes, weight)
        alpha, beta = votes.constant_sigmoids()
        if votes.near.shape[1] == 0:
            return weight, alpha, beta
        loss, last_turn, ends = np.inf, False, []
        for _ in range(self.settings.turns):
            alpha, beta, next_loss, converged = votes.best_sigmoids(weight, alpha, beta, self.settings.regularisation)
            last_turn = next_loss >= (1 - SMALL_DECREASE) * loss
            if last_turn:
                break
            loss = next_loss
            weight, end = votes.best_weight(weight, alpha, beta, self.settings.iterations)
            ends.append(end)
        iterations = sum(end.iterations for end in ends)
        self.solved = Solved(last_turn and converged and ends[-1].converged, iterations, ends[-1].gradient)
        return weight, alpha, beta


MODELS = {"tagprop": TagPropModel}
METHODS = {"tagprop": TagProp, "tagprop_sigma": TagPropSigma}
