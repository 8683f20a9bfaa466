"""Linear models of image features, trained by gradient steps or passive-aggressive steps.

The score of label c for an image with the features x is f_c(x) = <w_c, x>. The weights w_c start at 0. `OneVsRest` adds
an intercept to the score.

The models are the linear models of Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with
joint word-image embeddings", Machine Learning 81(1), 2010, tables 2 and 5. Numbers of algorithms and tables refer to
this paper.
"""

from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.sgd.image_rows import by_label, new_image_rows, new_weights
from vsebench.kernels.sgd.linear_models import linear_epoch, one_vs_rest_epoch, passive_aggressive_epoch
from vsebench.kernels.sgd.warp import one_trial
from vsebench.kernels.vectors import aligned, padded_size
from vsebench.methods.base import Method, Progress, Settings, Size
from vsebench.methods.by_features.from_features import FeatureMethod
from vsebench.methods.by_features.linear_map import LinearMap
from vsebench.methods.by_features.seen import FeatureSettings, see


class LinearSettings(FeatureSettings):
    """Settings of a linear model that is trained by gradient steps."""

    learning_rate: float = Field(gt=0)  # gamma, the same in all steps


class PassiveAggressiveSettings(FeatureSettings):
    """Settings of a model that is trained by passive-aggressive steps."""

    aggressiveness: float = Field(gt=0)  # largest step size


class LinearWarp(FeatureMethod):
    """WARP for a linear model.

    The method is Algorithm 1 of Weston, Bengio and Usunier (2010), and table 5 reports it in the rows "Linear, WARP".
    The weight of a step is 1 + 1/2 + ... + 1/k, where k is the estimated rank of the positive (alpha_j = 1/j in the
    paper). If no drawn negative violates the margin, a step changes nothing. The paper does not state whether the norms
    of the weight vectors w_c are limited in this model. In this implementation, they are not.

    Negatives are the labels that the image does not have. The paper estimates the rank of a positive from Y - 1, the
    number of labels minus 1. Here, the number of negatives replaces Y - 1.
    """

    settings_type: ClassVar[type[Settings]] = LinearSettings

    def __init__(self, problem: Problem, settings: FeatureSettings) -> None:
        super().__init__(problem, settings)
        self.n_labels = self.seen.labels.n_labels
        self.weights = new_weights(self.rows, self.dimensions, self.n_labels)
        self.scores = aligned(1, padded_size(self.n_labels))

    @classmethod
    def least_memory(cls, size: Size, settings: Settings) -> int:
        return 2 * 4 * size.features * size.labels  # the weights, and the model's copy of them

    def epoch(self) -> Progress:
        """Take gradient steps that lower the weighted hinge loss.

        Each step lowers the loss of a random positive and the first drawn negative that violates the margin.
        """
        report = linear_epoch(
            self.weights, self.rows, self.positives, self.n_labels, self.trials, self.steps,
            self.settings.learning_rate, self.rng, self.scores,
        )  # fmt: skip
        return Progress(*report)

    def model(self) -> LinearMap:
        no_intercepts = np.zeros((self.n_labels, 1), dtype=np.float32)
        weights = by_label(self.rows, self.weights, self.dimensions, self.n_labels)
        return LinearMap(np.ascontiguousarray(np.hstack([weights, no_intercepts])), self.seen.normalisation)


class LinearAuc(LinearWarp):
    """A linear model with the margin loss for AUC.

    Each step draws one negative uniformly. Table 5 of Weston, Bengio and Usunier (2010) reports this method in the rows
    "Linear, AUC".
    """

    trials_of = staticmethod(one_trial)


class PamirIa(LinearWarp):
    """PAMIR for image annotation: passive-aggressive steps on pairs of a positive p and a negative n.

        h = max(0, 1 - f_p(x) + f_n(x)),   tau = min(c, h / (2 |x|^2)),   w_p += tau x,   w_n -= tau x

    Here x are the features of the image, f_p and f_n are the scores of the two labels, and c is the setting
    `aggressiveness`. The step is from Grangier and Bengio, "A discriminative kernel-based approach to rank images from
    text queries", IEEE PAMI 30(8), 2008.
    """

    settings_type = PassiveAggressiveSettings

    def epoch(self) -> Progress:
        report = passive_aggressive_epoch(
            self.weights, self.rows, self.positives, self.n_labels, self.steps, self.settings.aggressiveness, self.rng
        )
        return Progress(*report)


class OneVsRest(Method):
    """A classifier for each label, trained by passive-aggressive steps; the classifiers' scores rank the labels.

        f_c(x) = <w_c, x> + b_c,   t = 1 if the image has label c, else -1,   h = max(0, 1 - t f_c(x)),
        tau = min(a, h / (|x|^2 + 1)),   w_c += tau t x,   b_c += tau t

    Here x are the features of the image, and a is the setting `aggressiveness`. The step is PA-I of Crammer and others,
    "Online passive-aggressive algorithms", JMLR 7, 2006. Choices made here: the intercept b_c is the weight of a
    constant feature, and an epoch visits all images in a new random order. Features have unit length; images without
    features are left out of the fit.
    """

    settings_type = PassiveAggressiveSettings
    needs = frozenset({"features"})

    def __init__(self, problem: Problem, settings: PassiveAggressiveSettings) -> None:
        self.seen, self.aggressiveness = see(problem, settings, unit_length=True), settings.aggressiveness
        self.rows = new_image_rows(self.seen.rows, constant=True)
        columns = padded_size(self.seen.labels.n_labels)
        self.weights = aligned(padded_size(self.seen.rows.shape[1] + 1), columns)
        self.steps_of_labels = aligned(1, columns)
        self.order = generator(problem.seed, Stream.ORDER)

    @classmethod
    def least_memory(cls, size: Size, settings: Settings) -> int:
        return 2 * 4 * size.features * size.labels  # the weights, and the model's copy of them

    def epoch(self) -> Progress:
        labels = self.seen.labels
        loss = one_vs_rest_epoch(
            self.weights, self.rows, labels.n_labels, labels.offsets, labels.label_of_pair,
            self.order.permutation(labels.n_rows), self.aggressiveness, self.steps_of_labels,
        )  # fmt: skip
        return Progress(loss)

    def model(self) -> LinearMap:
        used = self.weights[: self.seen.rows.shape[1] + 1, : self.seen.labels.n_labels]
        return LinearMap(np.ascontiguousarray(used.T), self.seen.normalisation)


METHODS = {"linear_warp": LinearWarp, "linear_auc": LinearAuc, "pamir_ia": PamirIa, "one_vs_rest": OneVsRest}
