"""Regression of an image's labels' word vectors: a network whose output comes near their mean, or their sum.

    L_i = |f(x_i) - t_i|^2,   t_i = the mean of v_l over the image's labels, or their sum; 0 without a label

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", section 4.2: Average
WordVec; the sum is that of the authors' code.
"""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from vsebench.data.problem import LabelMatrix, Matrix, Problem
from vsebench.methods.by_features.least_squares import weighted
from vsebench.methods.networks.training import NetworkSettings
from vsebench.methods.words.word_networks import WordNetworkMethod, WordNetworkSettings

Target = Literal["mean", "sum"]


class AvgWvSettings(WordNetworkSettings):
    """Settings of the regression of word vectors."""

    target: Target = "mean"  # of the word vectors of an image's labels


class AvgWv(WordNetworkMethod):
    """A network with squared errors of the mean or the sum of word vectors."""

    settings_type: ClassVar[type[NetworkSettings]] = AvgWvSettings
    settings: AvgWvSettings

    def __init__(self, problem: Problem, settings: AvgWvSettings) -> None:
        super().__init__(problem, settings)
        self.shares = target_shares(self.seen.labels.columns(self.is_learnt), settings.target)
        self.fixed = self.trained()

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        scores -= self.shares[images] @ self.fixed
        total = float(np.vdot(scores, scores))
        scores *= 2
        return total


def target_shares(labels: LabelMatrix, target: Target) -> sparse.csr_array:
    """Return how much of each label's vector an image's target has, (n, n_labels) float64."""
    n_right = labels.n_labels_of_row
    return weighted(labels, np.ones(labels.n_rows) if target == "sum" else 1 / np.maximum(n_right, 1))


METHOD = AvgWv
