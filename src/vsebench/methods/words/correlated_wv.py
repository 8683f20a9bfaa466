"""Correlated word vectors: a network learns an image's labels together with the labels nearest to them.

    L_i = |sig(z(x_i)) - T_i|^2

L_i is the loss of image i, x_i are the image's features, and sig is the sigmoid. z(x_i) are the network's outputs, one
for each label to learn. The targets T_i are computed in two steps:

- M = V V', where the rows of V are the vectors of the labels to learn. Only the two largest entries of each row of M
  are kept; the others are set to 0. The kept entries usually belong to the row's own label and to the nearest other
  label. Each row is then scaled to length 1.
- T_i is the sum of the rows of M that belong to the image's labels. In this sum, only the two largest entries and the
  entries of the image's labels are kept. T_i is then scaled to length 1. It is 0 for an image without labels.

The scores of the learnt labels are sig(z(x)). The scores of all other labels are weighted sums of these scores. The
weights are the columns of V U', where the rows of U are the vectors of the other labels, and each row of V U' is scaled
to length 1.

Source: the model `wdv` in the code of Ni and others, "Sampled image tagging and retrieval methods on user generated
content", who call it Correlated WV.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from vsebench.data.features import Normalisation
from vsebench.data.problem import LabelMatrix, Matrix, Problem, Queries
from vsebench.methods.by_features.least_squares import weighted
from vsebench.methods.by_features.linear_map import dense
from vsebench.methods.networks.network import HiddenLayers
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with
from vsebench.methods.words.label_tables import FixedVectors
from vsebench.methods.words.word_network import normalise_rows
from vsebench.methods.words.word_vectors import WordSettings
from vsebench.models import check_matrix, norm

NEAREST = 2  # number of entries that a row keeps


class CorrelatedSettings(NetworkSettings, WordSettings):
    """Settings of correlated word vectors."""


@dataclass(frozen=True)
class CorrelatedWords(HiddenLayers):
    """Scores are inner products of a label's weights with a network's outputs, which are between 0 and 1.

    Attributes
    ----------
    output : (units + 1, n_learnt) float32: weights and, in the last row, intercepts of the last layer
    label : (n_labels, n_learnt) float32, the weight of each output in a label's score
    """

    kind: ClassVar[str] = "correlated_wv"
    hidden: Sequence[Matrix]
    output: Matrix
    label: Matrix
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_matrix(self.output, "output", (None, None))
        check_matrix(self.label, "label", (None, self.output.shape[1]))
        self.check_hidden(len(self.output) - 1)

    def vectors(self, queries: Queries) -> Matrix:
        units = self.units(queries, len(self.output) - 1)
        outputs: Matrix = expit(dense(units @ self.output[:-1]) + self.output[-1])
        return outputs

    def largest_score(self) -> float:
        # Outputs are at most 1; they are NaN if a weight is not finite.
        weights = np.prod([norm(layer) for layer in (*self.hidden, self.output)])
        return norm(self.label) * float(np.sqrt(self.label.shape[1])) if np.isfinite(weights) else np.nan


class OutputsOfLearnt(FixedVectors):
    """A table for a network with one output per label to learn; other labels get weighted sums of the outputs."""

    def __init__(self, problem: Problem, settings: CorrelatedSettings, labels: LabelMatrix) -> None:
        super().__init__(problem, settings, labels)
        self.n_outputs = self.labels.n_labels

    def model(self, hidden: Sequence[Matrix], last: Matrix, normalisation: Normalisation) -> CorrelatedWords:
        learnt, label = self.is_learnt, np.zeros((len(self.start), self.n_outputs), dtype=np.float32)
        label[learnt] = np.eye(self.n_outputs, dtype=np.float32)
        label[~learnt] = normalise_rows(self.start[learnt] @ self.start[~learnt].T).T
        return CorrelatedWords(hidden, last, label, normalisation)


class CorrelatedWv(Loss):
    """A network whose loss is the squared distance to targets made of an image's labels and their nearest labels."""

    settings_type = CorrelatedSettings
    table_type = OutputsOfLearnt

    def prepare(self) -> None:
        labels = self.table.labels
        self.truth = weighted(labels, np.ones(labels.n_rows)).astype(np.float32)
        self.nearest = nearest_words(self.table.trained())

    def __call__(self, outputs: Matrix, images: Images) -> float:
        probabilities = expit(outputs)
        error = probabilities - targets(self.truth[images], self.nearest)
        np.multiply(2 * error, probabilities * (1 - probabilities), out=outputs)
        return float(np.vdot(error, error))


def nearest_words(vectors: Matrix) -> Matrix:
    """Return the matrix M of the module's docstring, (n, n) float32, for label vectors of shape (n, d)."""
    products = vectors @ vectors.T
    return normalise_rows(np.where(largest(products), products, np.float32(0)))


def targets(truth: Any, nearest: Matrix) -> Matrix:
    """Return the targets T_i of the module's docstring for m images, (m, n) float32.

    `truth`, (m, n), is a csr_array, 1 at the labels of an image and 0 elsewhere. `nearest`, (n, n), is the matrix M.
    """
    sums: Matrix = truth @ nearest
    return normalise_rows(np.where(largest(sums) | (truth.toarray() > 0), sums, np.float32(0)))


def largest(rows: Matrix) -> NDArray[np.bool_]:
    """Return a mask of the `NEAREST` largest numbers of each row; among equal numbers, the first are taken."""
    mask = np.zeros(rows.shape, dtype=np.bool_)
    np.put_along_axis(mask, np.argsort(-rows, axis=1, kind="stable")[:, :NEAREST], True, axis=1)
    return mask


MODELS = {"correlated_wv": CorrelatedWords}
METHODS = {"correlated_wv": network_with(CorrelatedWv)}
