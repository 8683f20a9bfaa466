"""FastTag: a linear map W of image features, fitted together with a linear map B that completes the images' labels.

    loss(B, W) = sum_i |B y_i - W x_i|^2 + lambda |W|^2 + gamma sum_i E |y_i - B y~_i|^2

x_i contains the features of image i. y_i contains 1 for each label of image i, and 0 for all others. y~_i is y_i after
each label of the image was dropped with probability p. The expectation E needs no sampling. With S = sum_i y_i y_i',

    sum_i E [y_i y~_i'] = P = (1 - p) S,   sum_i E [y~_i y~_i'] = Q,
    Q_ab = (1 - p)^2 S_ab for a != b,      Q_aa = (1 - p) S_aa

Source: Chen, Zheng and Weinberger, "Fast image tagging", ICML 2013, which minimises the loss alternately over W and B.
The loss is convex, so this alternation converges to the only minimum, which is computed directly here. The columns of X
are the x_i, and those of Y are the y_i. For a fixed B,

    W = B G,   G = Y X' (X X' + lambda I)^-1.

With this W, the loss is a quadratic function of B, whose minimum is

    B = gamma P (Y Y' - G X Y' + gamma Q)^-1

Choices made here, because we could not read the parts of the paper that describe them:

- Scores have an intercept that is not penalised. Therefore, x_i and y_i are centred in the first term of the loss.
- Further stages raise the recall of rare labels. After a stage, each training image gets the scores that it would have
  if W had been fitted without it; the leverages of ridge regression give these scores. The `cutoff` labels with the
  best scores are predicted for each image. The next stage boosts the labels whose recall with these predictions is
  below `recall`: in all sums over images, the weight of each image with such a label is multiplied by `boost`. B and W
  are then computed again, but only the rows of W that belong to the boosted labels are replaced.
- A label without a training image has the score 0.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from scipy.linalg import cho_factor, cho_solve, solve, solve_triangular

from vsebench.data.problem import LabelMatrix, Mask
from vsebench.methods.base import LARGEST, Size
from vsebench.methods.by_features.least_squares import RidgeSettings, penalty
from vsebench.methods.by_features.linear_map import LinearMap, dense
from vsebench.methods.by_features.seen import FeatureControl, see

Numbers = NDArray[np.float64]


class FastTagSettings(RidgeSettings):
    """Settings of FastTag; `regularisation` is lambda."""

    gamma: float = Field(gt=0)  # weight of the last term of the loss, the error of the completed labels
    dropped: float = Field(gt=0, lt=1)  # p, the probability that a label is dropped
    stages: int = Field(default=1, ge=1)  # number of stages; those after the first boost labels with a low recall
    recall: float = Field(default=0.3, gt=0, le=1)  # labels with a recall below this are boosted
    cutoff: int = Field(default=5, ge=1)  # number of labels that are predicted for an image to compute the recall
    # In each stage after the first, the weight of each image with a boosted label is multiplied by this.
    boost: float = Field(default=2.0, gt=1)

    @model_validator(mode="after")
    def _weights_of_sensible_size(self) -> "FastTagSettings":
        if (self.stages - 1) * math.log(self.boost) > math.log(LARGEST):
            limit = f"the weight of an image grows to boost^(stages - 1), which must be at most {LARGEST}"
            raise PydanticCustomError("boost", f"boost: {limit}; lower boost or stages")
        return self


@dataclass(frozen=True)
class Stage:
    """The result of one stage, for n images with d features and for L labels.

    Attributes
    ----------
    completion : (L, L), the map B, which completes the labels of an image
    weight : (L, d + 1), the map W of image features, and the intercepts in the last column
    without : (n, L), the scores that each image would have if W were fitted without it
    """

    completion: Numbers
    weight: Numbers
    without: Numbers


def corrupted(together: Numbers, dropped: float) -> tuple[Numbers, Numbers]:
    """Return the expected products of label vectors, P and Q, if labels are dropped at random.

    The vector y_i contains 1 for each label of image i, and y~_i is y_i after each label of the image was dropped with
    probability `dropped`. `together` is sum_i y_i y_i'. P is the expectation of sum_i y_i y~_i', and Q that of
    sum_i y~_i y~_i'. These three matrices have shape (L, L).
    """
    kept = 1 - dropped
    both = kept**2 * together
    np.fill_diagonal(both, kept * np.diagonal(together))
    return kept * together, both


def minimise(rows: Numbers, truth: Numbers, importance: Numbers, settings: FastTagSettings) -> Stage:
    """Return the `Stage` with the maps B and W that minimise the loss.

    In the loss, the terms of each image are multiplied by the weight of the image.

    Parameters
    ----------
    rows : (n, d), the features of the images
    truth : (n, L), 1 for each label of an image, else 0. Every label occurs on some image
    importance : (n,), the images' weights
    """
    total = importance.sum()
    middle, share = importance @ rows / total, importance @ truth / total
    x, y = rows - middle, truth - share
    weighted = importance[:, np.newaxis] * x
    gram = x.T @ weighted
    gram[np.diag_indices_from(gram)] += penalty(gram, settings.regularisation)
    factor = cho_factor(gram, lower=True)
    right = weighted.T @ y
    solution = cho_solve(factor, right)  # G'
    unexplained = y.T @ (importance[:, np.newaxis] * y) - solution.T @ right
    paired, both = corrupted(truth.T @ (importance[:, np.newaxis] * truth), settings.dropped)
    completion = solve(unexplained + settings.gamma * both, settings.gamma * paired, assume_a="pos").T
    weight = completion @ solution.T
    intercept = completion @ share - weight @ middle
    halves = solve_triangular(factor[0], x.T, lower=True)
    leverage = importance * (1 / total + np.square(halves).sum(axis=0))
    scores, target = rows @ weight.T + intercept, truth @ completion.T
    left = np.maximum(1 - leverage, np.finfo(np.float64).eps)[:, np.newaxis]
    without = target - (target - scores) / left
    return Stage(completion, np.hstack([weight, intercept[:, np.newaxis]]), without)


def recalls(scores: Numbers, truth: Numbers, cutoff: int) -> Numbers:
    """Return the recall of each label if the `cutoff` labels with the best scores are predicted for each image.

    `scores` is (n, L), and the result has shape (L,). `truth` is as for `minimise`.
    """
    best = np.argsort(-scores, axis=1, kind="stable")[:, :cutoff]
    hits = np.zeros(scores.shape[1])
    np.add.at(hits, best, np.take_along_axis(truth, best, axis=1))
    return np.asarray(hits / truth.sum(axis=0))


def fit_stages(rows: Numbers, truth: Numbers, settings: FastTagSettings) -> Numbers:
    """Return the map W after all stages, with the intercepts in the last column.

    The result has shape (L, d + 1). `rows` and `truth` are as for `minimise`.
    """
    importance = np.ones(len(rows))
    first = minimise(rows, truth, importance, settings)
    weight, without = first.weight, first.without
    for _ in range(1, settings.stages):
        raised: Mask = recalls(without, truth, settings.cutoff) < settings.recall
        if not raised.any():
            break
        importance[truth[:, raised].any(axis=1)] *= settings.boost
        stage = minimise(rows, truth, importance, settings)
        weight[raised], without[:, raised] = stage.weight[raised], stage.without[:, raised]
    return weight


def truth_of(labels: LabelMatrix, learnt: Mask) -> Numbers:
    """Return the label matrix as a dense array, with columns only for the labels in the mask `learnt`."""
    return np.asarray(labels.columns(learnt).mask(), dtype=np.float64)


class FastTag(FeatureControl):
    """FastTag; images without features are left out of the fit."""

    settings_type = FastTagSettings

    @classmethod
    def least_memory(cls, size: Size, settings: FastTagSettings) -> int:
        return 3 * 8 * size.images * (size.features + size.labels)  # raw, centred and weighted features and labels

    def model(self) -> LinearMap:
        seen = see(self.problem, self.settings)
        labels = seen.labels
        learnt = np.bincount(labels.label_of_pair, minlength=labels.n_labels) > 0
        rows = dense(seen.rows).astype(np.float64)
        weight = np.zeros((labels.n_labels, rows.shape[1] + 1), dtype=np.float32)
        weight[learnt] = fit_stages(rows, truth_of(labels, learnt), self.settings)
        return LinearMap(weight, seen.normalisation)


METHODS = {"fasttag": FastTag}
