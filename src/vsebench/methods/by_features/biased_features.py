"""A model with biases: an image's vector is a linear map of its normalised features, and every label has a bias."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vsebench.data.features import Normalisation
from vsebench.data.problem import Matrix, Queries
from vsebench.methods.model_of_fields import ModelOfFields
from vsebench.models import Embedded, check_matrix, features_of, norm


@dataclass(frozen=True)
class BiasedFeatures(ModelOfFields, Embedded):
    """Scores are inner products of a label's vector with the image's vector, plus the label's bias.

    Attributes
    ----------
    feature : (d, K) float32, a row per feature
    label : (n_labels, K + 1) float32, each label's vector and its bias
    normalisation : as fitted to the training images
    """

    kind: ClassVar[str] = "biased_features"
    biased: ClassVar[bool] = True
    feature: Matrix
    label: Matrix
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_matrix(self.label, "label", (None, None))
        check_matrix(self.feature, "feature", (None, self.label.shape[1] - 1))

    def vectors(self, queries: Queries) -> Matrix:
        rows = self.normalisation.apply(features_of(queries, len(self.feature)))
        vectors = np.ones((rows.shape[0], self.label.shape[1]), dtype=np.float32)
        vectors[:, :-1] = rows @ self.feature
        return vectors

    def largest_score(self) -> float:
        # Features are checked when they are read, so only the two matrices can be infinite or NaN.
        return (norm(self.feature) + 1) * norm(self.label)


MODEL = BiasedFeatures
