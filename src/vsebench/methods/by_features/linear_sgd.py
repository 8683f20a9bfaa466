"""The base of methods that learn a weight vector per label from pairs of a positive and a negative label."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.kernels.sgd.linear_ranking import linear_epoch
from vsebench.kernels.vectors import aligned, padded_size
from vsebench.methods.base import Progress, Settings
from vsebench.methods.by_features.from_features import FeatureMethod
from vsebench.methods.by_features.linear_map import LinearMap
from vsebench.methods.by_features.seen import FeatureSettings


class LinearSettings(FeatureSettings):
    """Settings of gradient steps on a linear model."""

    learning_rate: float = Field(gt=0)  # gamma, constant


class LinearMethod(FeatureMethod):
    """A weight vector per label, f_c(x) = <w_c, x>; w_c starts at 0, and norms are not limited.

    A step without a violator among its trials changes nothing.
    """

    settings_type: ClassVar[type[Settings]] = LinearSettings

    def __init__(self, problem: Problem, settings: FeatureSettings) -> None:
        super().__init__(problem, settings)
        self.weights = aligned(self.seen.labels.n_labels, padded_size(self.dimensions))

    def epoch(self) -> Progress:
        """Take gradient steps on the weighted hinge, each with the first violator among its trials."""
        report = linear_epoch(
            self.weights, self.rows, self.positives, self.trials, self.steps, self.settings.learning_rate, self.rng
        )
        return Progress(*report)

    def model(self) -> LinearMap:
        no_intercepts = np.zeros((len(self.weights), 1), dtype=np.float32)
        return LinearMap(np.hstack([self.weights[:, : self.dimensions], no_intercepts]), self.seen.normalisation)
