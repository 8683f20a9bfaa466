"""WSABIE: image features and labels are mapped into one space by two matrices, trained by WARP.

    f_c(x) = <w_c, V' x>,   |row of V| <= C,   |w_c| <= C

V and W start from a normal distribution with the standard deviation 1 / sqrt(d), rows longer than C shortened to C.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, Eq. 1 to 3 and Algorithm 1, with alpha_j = 1/j. Choices that the paper leaves open: where
an image has several labels, a step draws one of all pairs of an image and a label; negatives are the labels that the
image does not carry, and Y - 1 is their number.
"""

import math

import numpy as np
from pydantic import Field

from vsebench.kernels.vectors import aligned, padded_size
from vsebench.kernels.warp import Trials, new_trials
from vsebench.kernels.wsabie import new_maps, wsabie_epoch
from vsebench.methods.base import FactorSettings, Progress
from vsebench.methods.embedded_features import EmbeddedFeatures
from vsebench.methods.from_features import FeatureMethod, FeatureSettings
from vsebench.methods.start import padded_start
from vsebench.problem import Matrix, Problem
from vsebench.streams import Stream, generator


class WsabieSettings(FactorSettings, FeatureSettings):
    """Settings of WSABIE."""

    learning_rate: float = Field(gt=0)  # gamma, constant
    maximum_norm: float = Field(ge=0)  # C in Eq. 2 and 3; 0: no limit


class Wsabie(FeatureMethod):
    """WSABIE. A step without a violator among its trials changes nothing."""

    settings_type = WsabieSettings

    def __init__(self, problem: Problem, settings: WsabieSettings) -> None:
        super().__init__(problem, settings)
        self.settings = settings
        n_labels, start = self.seen.labels.n_labels, generator(problem.seed, Stream.START)
        deviation = 1 / math.sqrt(self.dimensions)
        features = aligned(padded_size(self.dimensions), padded_size(settings.factors))
        features[: self.dimensions] = padded_start(self.dimensions, settings.factors, deviation, start)
        labels = padded_start(n_labels, settings.factors, deviation, start)
        for rows in (features, labels):
            project_rows(rows, settings.maximum_norm)
        self.maps = new_maps(features, labels)
        self.trials = self.new_trials(n_labels)

    def new_trials(self, n_labels: int) -> Trials:
        """Return how negatives are tried, and how steps are weighted."""
        return new_trials(n_labels, None)

    def epoch(self) -> Progress:
        loss, trials = wsabie_epoch(
            self.maps, self.rows, self.positives, self.trials, self.steps, self.settings.learning_rate,
            self.settings.maximum_norm, self.rng,
        )  # fmt: skip
        return Progress(loss, trials)

    def model(self) -> EmbeddedFeatures:
        d, k = self.dimensions, self.settings.factors
        features, labels = self.maps.features[:d, :k], self.maps.labels[:, :k]
        return EmbeddedFeatures(
            np.ascontiguousarray(features), np.ascontiguousarray(labels), self.seen.normalisation
        )  # fmt: skip


def project_rows(matrix: Matrix, maximum_norm: float) -> None:
    """Shorten the rows of a matrix (n, K) float32 that are longer than `maximum_norm` to that length; 0: none."""
    if maximum_norm > 0:
        lengths = np.sqrt(np.einsum("nk,nk->n", matrix, matrix))
        matrix *= (maximum_norm / np.maximum(lengths, maximum_norm))[:, np.newaxis]


METHOD = Wsabie
