"""The base of WSABIE and of the methods with its model: two maps, their initial values, and the limit on their norms.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, Eq. 1 to 3 and Algorithm 1.
"""

import math

import numpy as np
from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.sgd.wsabie import new_maps, wsabie_epoch
from vsebench.kernels.vectors import aligned, padded_size
from vsebench.methods.base import FactorSettings, Progress
from vsebench.methods.by_features.embedded_features import EmbeddedFeatures
from vsebench.methods.by_features.from_features import FeatureMethod
from vsebench.methods.by_features.seen import FeatureSettings
from vsebench.methods.by_labels.start import padded_start, project_rows


class EmbeddingSettings(FactorSettings, FeatureSettings):
    """Settings of gradient steps on two maps."""

    learning_rate: float = Field(gt=0)  # gamma, constant
    maximum_norm: float = Field(ge=0)  # C in Eq. 2 and 3, the largest norm of a row; 0: no limit


class EmbeddingMethod(FeatureMethod):
    """Two maps, f_c(x) = <w_c, V' x>, whose rows are not longer than C.

    V and W start from a normal distribution with the standard deviation 1 / sqrt(d); longer rows are shortened to C. A
    step without a violator among its trials changes nothing.
    """

    settings_type = EmbeddingSettings

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
        """Take gradient steps on the weighted hinge, each with the first violator among its trials."""
        report = wsabie_epoch(
            self.maps, self.rows, self.positives, self.trials, self.steps, self.settings.learning_rate,
            self.settings.maximum_norm, self.rng,
        )  # fmt: skip
        return Progress(*report)

    def model(self) -> EmbeddedFeatures:
        k = self.settings.factors
        feature = np.ascontiguousarray(self.maps.features[: self.dimensions, :k])
        return EmbeddedFeatures(feature, np.ascontiguousarray(self.maps.labels[:, :k]), self.seen.normalisation)
