"""Average WordVec: a network that predicts the mean, or the sum, of the word vectors of an image's labels.

    L_i = |f(x_i) - t_i|^2,   t_i = the mean, or the sum, of v_l over the image's labels l; 0 if it has none

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", section 4.2, which uses
the mean; the authors' code uses the sum.
"""

from typing import Literal

import numpy as np
from scipy import sparse

from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.methods.by_features.least_squares import weighted
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with
from vsebench.methods.words.label_tables import FixedVectors
from vsebench.methods.words.word_network import Score
from vsebench.methods.words.word_vectors import WordSettings

Target = Literal["mean", "sum"]


class AvgWvSettings(NetworkSettings, WordSettings):
    """Settings of the regression of word vectors."""

    score: Score = "dot"  # the inner product or the cosine of an image's vector and a label's vector
    target: Target = "mean"  # the mean or the sum of the word vectors of an image's labels


class AvgWv(Loss):
    """The squared distance to the mean, or the sum, of the word vectors of an image's labels."""

    settings_type = AvgWvSettings
    table_type = FixedVectors

    def prepare(self) -> None:
        self.shares = target_shares(self.table.labels, self.settings.target)
        self.vectors = self.table.trained()

    def __call__(self, outputs: Matrix, images: Images) -> float:
        outputs -= self.shares[images] @ self.vectors
        total = float(np.vdot(outputs, outputs))
        outputs *= 2
        return total


def target_shares(labels: LabelMatrix, target: Target) -> sparse.csr_array:
    """Return the weights of the labels' vectors in each image's target, (n, n_labels) float64."""
    n_right = labels.n_labels_of_row
    return weighted(labels, np.ones(labels.n_rows) if target == "sum" else 1 / np.maximum(n_right, 1))


METHOD = network_with(AvgWv)
