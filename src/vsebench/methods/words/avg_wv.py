"""Average WordVec: an image's vector predicts the mean, or the sum, of the word vectors of the image's labels.

    t_i = the mean, or the sum, of v_l over the labels l of image i

Here, v_l is the vector of label l. The target t_i of an image without labels is 0.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", section 4.2. The paper
uses the mean, and the authors' code uses the sum.
"""

from typing import Literal

import numpy as np
from scipy import sparse

from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.methods.by_features.least_squares import RidgeSettings, least_squares, weighted
from vsebench.methods.by_features.seen import FeatureControl, see
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with
from vsebench.methods.words.label_tables import FixedVectors
from vsebench.methods.words.word_network import Score, WordNetwork
from vsebench.methods.words.word_vectors import WordSettings, label_vectors

Target = Literal["mean", "sum"]


class AvgWvSettings(NetworkSettings, WordSettings):
    """Settings of a network that predicts word vectors."""

    score: Score = "dot"  # the inner product or the cosine of an image's vector and a label's vector
    target: Target = "mean"  # the mean or the sum of the word vectors of an image's labels


class AvgWvRidgeSettings(RidgeSettings, WordSettings):
    """Settings of the ridge regression that predicts word vectors."""

    target: Target = "mean"  # the mean or the sum of the word vectors of an image's labels
    score: Score = "dot"  # the inner product or the cosine of an image's vector and a label's vector


class AvgWv(Loss):
    """A network f whose loss for image i, with features x_i, is |f(x_i) - t_i|^2; the module defines the target t_i."""

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


class AvgWvRidge(FeatureControl):
    """Ridge regression that predicts the mean, or the sum, of the word vectors of an image's labels.

        f(x) = (x - mean of X) W + mean of T,   W = (Xc' Xc + a I)^-1 Xc' (T - mean of T)

    Each row of X contains the features of a training image, and the same row of T contains the image's target: the mean
    or the sum. Xc is X minus the mean of its rows, I is the identity matrix, and a is the setting `regularisation`.
    Images without features are left out of the fit.

    T is a product S V. The rows of V are the label vectors, and row i of S contains the weight of each label in the
    target of image i. The solution is linear in the targets, so it is computed for S and then multiplied by V. This
    closed form is our addition. It overfits less than the network of `AvgWv`.
    """

    needs = frozenset({"features", "word_vectors"})
    ranks_unseen = True
    settings_type = AvgWvRidgeSettings

    def model(self) -> WordNetwork:
        settings, learnt = self.settings, self.problem.training.learnt
        seen, vectors = see(self.problem, settings), label_vectors(self.problem, settings)
        shares = target_shares(seen.labels.columns(learnt), settings.target)
        of_labels = least_squares(seen.rows, shares, settings.regularisation)
        output = (of_labels.T.astype(np.float64) @ vectors[learnt]).astype(np.float32)
        return WordNetwork.of([], output, vectors, np.zeros(len(vectors)), settings.score, seen.normalisation)


def target_shares(labels: LabelMatrix, target: Target) -> sparse.csr_array:
    """Return the weight of each label's vector in each image's target, (n, n_labels) float64."""
    n_right = labels.n_labels_of_row
    return weighted(labels, np.ones(labels.n_rows) if target == "sum" else 1 / np.maximum(n_right, 1))


METHODS = {"avg_wv": network_with(AvgWv), "avg_wv_ridge": AvgWvRidge}
