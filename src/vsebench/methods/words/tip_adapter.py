"""Tip-Adapter without training: the zero-shot cosine plus weighted votes of the training images.

    score of label l for image x = cos(x, v_l) + a * sum over the training images i with l of exp(-b (1 - cos(x, x_i)))

x and x_i are the features of an image and of training image i, and v_l is the word vector of label l. a and b are the
settings `alpha` and `beta`. A training image that is more similar to x has more weight.

Features and word vectors come from one network that maps images and texts into one space, such as CLIP. They are used
without normalisation steps. Labels that are not learnt get no votes, so their score is the cosine alone. The published
code multiplies cos(x, v_l) by 100. To get the same rankings here, set `alpha` to a hundredth of its value there.

Source: Zhang and others, "Tip-Adapter: training-free adaption of CLIP for few-shot classification", ECCV 2022. Here,
the method is extended to images with several labels: a training image votes for each of its labels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse

from vsebench.data.chunks import even_chunks
from vsebench.data.features import Normalisation, Rows
from vsebench.data.problem import LabelMatrix, Matrix, Queries
from vsebench.methods.base import Settings
from vsebench.methods.by_features.linear_map import dense
from vsebench.methods.by_features.neighbours import (
    PRODUCTS,
    check_rows,
    labels_from_arrays,
    labels_to_arrays,
    prepare,
    rows_from_arrays,
    rows_to_arrays,
)
from vsebench.methods.by_features.seen import FeatureControl, NormaliseSettings, see
from vsebench.methods.words.word_network import normalise_rows
from vsebench.methods.words.word_vectors import word_vectors_among_features
from vsebench.models import Model, check_matrix, features_of


class TipAdapterSettings(Settings):
    """Settings of Tip-Adapter."""

    alpha: float = Field(default=0.01, ge=0)  # a, the weight of the training images; at 0, only the cosine counts
    beta: float = Field(default=5.5, ge=0)  # b; larger values give dissimilar images a smaller weight


@dataclass(frozen=True)
class CosinesAndVotes(Model):
    """Scores are cosines of an image and a label, plus weighted votes of the training images.

    Attributes
    ----------
    features : (n, d) float32, dense or CSR, the features of the training images, scaled to unit length
    labels : the labels of the training images, n rows
    label : (n_labels, d) float32, the labels' vectors, of unit length; zeros for a label without a word vector
    alpha : the factor of the sum of the votes
    beta : a vote has the weight exp(-beta (1 - c)), where c is the cosine of the image and the training image
    normalisation : a normalisation without steps
    """

    kind: ClassVar[str] = "tip_adapter"
    features: Rows
    labels: LabelMatrix
    label: Matrix
    alpha: float
    beta: float
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_rows(self.features, "features", self.labels.n_rows)
        check_matrix(self.label, "label", (self.labels.n_labels, self.features.shape[1]))
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 <= value < np.inf:
                raise ValueError(f"{name} is {value}, not a finite number of at least 0")

    @property
    def n_labels(self) -> int:
        return self.labels.n_labels

    @cached_property
    def _votes(self) -> Any:
        """The labels of the training images, as a CSR matrix of 0 and 1, (n_labels, n) float32."""
        ones = np.ones(self.labels.n_pairs, dtype=np.float32)
        shape = self.labels.n_rows, self.n_labels
        return sparse.csr_array((ones, self.labels.label_of_pair, self.labels.offsets), shape=shape).T.tocsr()

    def scores(self, queries: Queries) -> Matrix:
        rows = prepare(self.normalisation.apply(features_of(queries, self.label.shape[1])), "cosine")
        scores = np.empty((rows.shape[0], self.n_labels), dtype=np.float32)
        for start, stop in even_chunks(rows.shape[0], max(1, PRODUCTS // self.labels.n_rows)):
            block = rows[start:stop]
            weights = dense(block @ self.features.T)
            weights -= 1
            weights *= self.beta
            np.exp(weights, out=weights)
            scores[start:stop] = dense(block @ self.label.T) + self.alpha * (self._votes @ weights.T).T
        return scores

    def largest_score(self) -> float:
        # A cosine is at most 1 and a weight at most exp(0), except for rounding errors; NaN in the vectors makes the
        # bound NaN.
        return 2 * (1 + self.alpha * self.labels.n_rows) + 0 * float(self.label.sum(dtype=np.float64))

    def arrays(self) -> dict[str, NDArray[Any]]:
        own: dict[str, NDArray[Any]] = {
            **labels_to_arrays(self.labels),
            "label": self.label,
            "alpha": np.array(self.alpha),
            "beta": np.array(self.beta),
        }
        return own | rows_to_arrays(self.features, "features") | self.normalisation.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "CosinesAndVotes":
        return cls(
            rows_from_arrays(arrays, "features"),
            labels_from_arrays(arrays, len(arrays["label"])),
            arrays["label"],
            float(arrays["alpha"]),
            float(arrays["beta"]),
            Normalisation.from_arrays(arrays, cls.kind),
        )


class TipAdapter(FeatureControl):
    """Tip-Adapter without training; only images with features and labels vote.

    Raises
    ------
    UserError
        Features and word vectors have different dimensions, or no image to learn from has features and a label.
    """

    needs = frozenset({"features", "word_vectors"})
    ranks_unseen = True
    settings_type = TipAdapterSettings

    def model(self) -> CosinesAndVotes:
        words = word_vectors_among_features(self.problem, "tip_adapter")
        seen = see(self.problem, NormaliseSettings(), only_labelled=True)
        rows, settings = prepare(seen.rows, "cosine"), self.settings
        return CosinesAndVotes(
            rows, seen.labels, normalise_rows(words), settings.alpha, settings.beta, seen.normalisation
        )


MODELS = {"tip_adapter": CosinesAndVotes}
METHODS = {"tip_adapter": TipAdapter}
