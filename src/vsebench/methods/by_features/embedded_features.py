"""A model of several methods: an image's vector is a linear map of its normalised features."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vsebench.data.features import Normalisation
from vsebench.data.problem import Matrix, Queries
from vsebench.methods.model_of_fields import ModelOfFields
from vsebench.models import Embedded, check_matrix, features_of, norm


@dataclass(frozen=True)
class EmbeddedFeatures(ModelOfFields, Embedded):
    """Scores are inner products of a label's vector with the image's vector, its normalised features times a matrix.

    Attributes
    ----------
    feature : (d, K) float32, a row per feature
    label : (n_labels, K) float32
    normalisation : as fitted to the training images
    """

    kind: ClassVar[str] = "embedded_features"
    feature: Matrix
    label: Matrix
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_matrix(self.label, "label", (None, None))
        check_matrix(self.feature, "feature", (None, self.label.shape[1]))

    def vectors(self, queries: Queries) -> Matrix:
        rows = self.normalisation.apply(features_of(queries, len(self.feature)))
        return np.ascontiguousarray(rows @ self.feature, dtype=np.float32)

    def largest_score(self) -> float:
        # Features are checked when they are read, so only the two matrices can be infinite or NaN.
        return norm(self.feature) * norm(self.label)


MODEL = EmbeddedFeatures
