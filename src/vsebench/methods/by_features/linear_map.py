"""A model of several methods: scores are linear in the normalised features of an image."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vsebench.data.features import Normalisation, Rows
from vsebench.data.problem import Matrix, Queries
from vsebench.methods.model_of_fields import ModelOfFields
from vsebench.models import Embedded, check_matrix, features_of, norm


@dataclass(frozen=True)
class LinearMap(ModelOfFields, Embedded):
    """Scores are linear in the normalised features of an image.

    Attributes
    ----------
    label : (n_labels, d + 1) float32: each label's weights of the features, and its intercept
    normalisation : as fitted to the training images
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
        # Features are checked when they are read, so only the weights can be infinite or NaN.
        return norm(self.label)


def dense(rows: Rows) -> NDArray[Any]:
    """Return rows of features, dense or sparse, as a NumPy array."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


MODEL = LinearMap
