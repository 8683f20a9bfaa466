"""Models in which an image's vector is a linear function of the image's normalised features.

Features that are infinite or NaN are refused when they are read. Therefore, `largest_score` depends only on a model's
own matrices.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vsebench.data.features import Normalisation, Rows
from vsebench.data.problem import Matrix, Queries
from vsebench.models import Embedded, ModelOfFields, check_matrix, features_of, norm


@dataclass(frozen=True)
class LinearMap(ModelOfFields, Embedded):
    """Scores are linear in the normalised features of an image.

    Attributes
    ----------
    label : (n_labels, d + 1) float32: the weights of the d features for each label, with the label's intercept in the
        last column
    normalisation : the normalisation fitted to the training images
    """

    kind: ClassVar[str] = "linear_map"
    biased: ClassVar[bool] = True
    label: Matrix
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_matrix(self.label, "label", (None, None))

    def vectors(self, queries: Queries) -> Matrix:
        rows = dense(self.normalisation.apply(features_of(queries, self.label.shape[1] - 1)))
        return np.hstack([rows, np.ones((len(rows), 1), dtype=np.float32)])

    def largest_score(self) -> float:
        return norm(self.label)


@dataclass(frozen=True)
class EmbeddedFeatures(ModelOfFields, Embedded):
    """Scores are inner products of the vectors of images and labels.

    An image's vector is the product of the image's normalised features and the matrix `feature`.

    Attributes
    ----------
    feature : (d, K) float32, one row per feature
    label : (n_labels, K) float32, one vector per label
    normalisation : the normalisation fitted to the training images
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
        return norm(self.feature) * norm(self.label)


@dataclass(frozen=True)
class BiasedFeatures(ModelOfFields, Embedded):
    """A score is the inner product of an image's vector and a label's vector, plus the label's bias.

    An image's vector is the product of the image's normalised features and the matrix `feature`.

    Attributes
    ----------
    feature : (d, K) float32, one row per feature
    label : (n_labels, K + 1) float32, one vector per label, with the label's bias in the last column
    normalisation : the normalisation fitted to the training images
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
        return (norm(self.feature) + 1) * norm(self.label)


def dense(rows: Rows) -> NDArray[Any]:
    """Return rows of features, dense or sparse, as a NumPy array."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


MODELS = {"linear_map": LinearMap, "embedded_features": EmbeddedFeatures, "biased_features": BiasedFeatures}
