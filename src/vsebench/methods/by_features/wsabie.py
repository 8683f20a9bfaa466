"""WSABIE, and other methods with the model of WSABIE.

Two matrices, V and W, map image features and labels into one space. The score of label c for an image with the features
x is f_c(x):

    f_c(x) = <w_c, V' x>,   |row of V| <= C,   |w_c| <= C

V has a row for each of the d features, the w_c are the rows of W, and C is the setting `maximum_norm`. The initial V
and W are drawn from a normal distribution with mean 0 and standard deviation 1 / sqrt(d); rows that are longer than C
are shortened to length C.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010. Numbers of equations, sections, tables and figures refer to this paper.
"""

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.data.problem import Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.sgd.warp import one_trial
from vsebench.kernels.sgd.wsabie import new_maps, owpc_epoch, wsabie_epoch
from vsebench.kernels.vectors import aligned, padded_size
from vsebench.methods.base import Ensemble, FactorSettings, Progress
from vsebench.methods.by_features.from_features import FeatureMethod
from vsebench.methods.by_features.linear_map import EmbeddedFeatures
from vsebench.methods.by_features.seen import FeatureSettings
from vsebench.methods.by_labels.start import padded_start, project_rows
from vsebench.models import Model


class EmbeddingSettings(FactorSettings, FeatureSettings):
    """Settings of a model with two maps that is trained by gradient steps."""

    learning_rate: float = Field(gt=0)  # gamma, the same in all steps
    maximum_norm: float = Field(ge=0)  # C in Eq. 2 and 3, the largest norm of a row of V or W; 0: no limit


class Wsabie(FeatureMethod):
    """WSABIE, trained with the WARP loss (Eq. 1 to 3 and Algorithm 1).

    The weight of a step is 1 + 1/2 + ... + 1/k, where k is the estimated rank of the positive (alpha_j = 1/j in the
    paper). Images have several labels here, so each step draws a pair of an image and one of the image's labels. If no
    drawn negative violates the margin, a step changes nothing.

    Negatives are the labels that the image does not have. The paper estimates the rank of a positive from Y - 1, the
    number of labels minus 1. Here, the number of negatives replaces Y - 1.
    """

    settings_type: ClassVar[type[EmbeddingSettings]] = EmbeddingSettings

    def __init__(self, problem: Problem, settings: EmbeddingSettings) -> None:
        super().__init__(problem, settings)
        start, deviation = generator(problem.seed, Stream.START), 1 / math.sqrt(self.dimensions)
        features = aligned(padded_size(self.dimensions), padded_size(settings.factors))
        features[: self.dimensions] = padded_start(self.dimensions, settings.factors, deviation, start)
        labels = padded_start(self.seen.labels.n_labels, settings.factors, deviation, start)
        for rows in (features, labels):
            project_rows(rows, settings.maximum_norm)
        self.maps = new_maps(features, labels)

    def epoch(self) -> Progress:
        """Take gradient steps that lower the weighted hinge loss.

        Each step lowers the loss of a random positive and the first drawn negative that violates the margin.
        """
        report = wsabie_epoch(
            self.maps, self.rows, self.positives, self.trials, self.steps, self.settings.learning_rate,
            self.settings.maximum_norm, self.rng,
        )  # fmt: skip
        return Progress(*report)

    def model(self) -> EmbeddedFeatures:
        k = self.settings.factors
        feature = np.ascontiguousarray(self.maps.features[: self.dimensions, :k])
        return EmbeddedFeatures(feature, np.ascontiguousarray(self.maps.labels[:, :k]), self.seen.normalisation)


class WsabieAuc(Wsabie):
    """WSABIE's model with the margin loss for AUC.

    For an image, the loss is the sum of max(0, 1 - f_p(x) + f_n(x)) over all labels p that the image has and all labels
    n that it does not have. Each step draws one negative uniformly and gives it weight 1. Table 5 reports this method
    in the rows "Embedding, AUC".
    """

    trials_of = staticmethod(one_trial)


class DecaySettings(EmbeddingSettings):
    """Settings of WSABIE with a decreasing learning rate; `learning_rate` is the rate of the first epoch."""

    decay: float = Field(gt=0)  # number of epochs after which the rate is 1 / sqrt(2) of the first rate


class WsabieDecay(Wsabie):
    """WSABIE with a decreasing learning rate.

    The rate in epoch t, counted from 0, is gamma / sqrt(1 + t / decay), where gamma is the setting `learning_rate`. The
    paper uses a constant learning rate (section 3).
    """

    settings_type = DecaySettings

    def __init__(self, problem: Problem, settings: DecaySettings) -> None:
        super().__init__(problem, settings)
        self.first, self.decay, self.n_epochs = settings.learning_rate, settings.decay, 0

    def epoch(self) -> Progress:
        rate = self.first / math.sqrt(1 + self.n_epochs / self.decay)
        self.settings = self.settings.model_copy(update={"learning_rate": rate})
        self.n_epochs += 1
        return super().epoch()


class OwpcSgd(Wsabie):
    """WSABIE's model and loss, with the exact rank of the positive instead of an estimate.

    A step computes the scores of all labels. It then moves the vectors of the positive p and of all negatives n that
    violate the margin.

        k = number of negatives n with f_n(x) > f_p(x) - 1,   weight of each of these violators: L(k) / k

    Here L(k) = 1 + 1/2 + ... + 1/k. This is the baseline OWPC-SGD in figure 2, which minimises the paper's loss by
    stochastic gradient descent. In the original OWPC, the weight of a negative depends on that negative's rank.
    """

    def epoch(self) -> Progress:
        violators = np.empty(self.seen.labels.n_labels, dtype=np.int32)
        report = owpc_epoch(
            self.maps, self.rows, self.positives, self.trials.rank_loss, violators, self.steps,
            self.settings.learning_rate, self.settings.maximum_norm, self.rng,
        )  # fmt: skip
        return Progress(*report)


class WsabieEnsemble(Ensemble):
    """A weighted sum of the scores of models of different sizes, combined into one model (table 7).

    The paper finds the weights by a grid search on the validation set, and does not state which cost the search
    minimises. Here, the scores of each member are divided by their standard deviation on the validation images. Weights
    are multiples of 0.1 that add up to 1; of all such combinations, the one with the best validation metric is chosen.
    """

    needs = frozenset({"features"})
    is_random = True
    member_type = Wsabie

    @classmethod
    def combined(cls, models: Sequence[Model], scales: Sequence[float]) -> EmbeddedFeatures:
        """Return one model whose scores are the sum of the models' scores, each multiplied by its scale.

        The maps of the models are concatenated: V = [V_1 V_2 ...] and W = [scale_1 W_1 scale_2 W_2 ...].

        Raises
        ------
        UserError
            The models are not all `EmbeddedFeatures`, or they normalise features in different ways.
        """
        maps = [model for model in models if isinstance(model, EmbeddedFeatures)]
        if len(maps) < len(models):
            raise UserError(
                "members of an ensemble must map both features and labels to vectors, but one member's model is of"
                " another kind; remove that member from `members`"
            )
        if len({(model.normalisation.steps, model.normalisation.sets) for model in maps}) > 1:
            raise UserError("the members of an ensemble normalise features differently; give them the same `normalise`")
        feature = np.hstack([model.feature for model in maps])
        label = np.hstack([np.float32(scale) * model.label for model, scale in zip(maps, scales, strict=True)])
        return EmbeddedFeatures(feature, label, maps[0].normalisation)


METHODS = {
    "wsabie": Wsabie,
    "wsabie_auc": WsabieAuc,
    "wsabie_decay": WsabieDecay,
    "owpc_sgd": OwpcSgd,
    "wsabie_ensemble": WsabieEnsemble,
}
