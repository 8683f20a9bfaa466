"""Ridge regression of the label matrix on image features, in closed form.

    W = (Xc' Xc + a I)^-1 Xc' (Y - mean of Y),   score = (x - mean of X) W + mean of Y

X are the normalised features of the training images, Xc their differences from the mean, Y is 1 where an image carries
a label. The intercept is not penalised, and a is added to the undivided Xc' Xc. All sums are in float64.

Source: Hoerl and Kennard, "Ridge regression", Technometrics 12, 1970.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.features import Normalisation, Rows, Step
from vsebench.methods.base import Control, Settings
from vsebench.models import Embedded, check_matrix, features_of, norm
from vsebench.problem import Matrix, Problem, Queries


class RidgeSettings(Settings):
    """Settings of ridge regression."""

    regularisation: float = Field(gt=0)  # a
    # Steps that the features go through, in this order; none: those of the data set's file.
    normalise: tuple[Step, ...] | None = Field(default=None, strict=False)


@dataclass(frozen=True)
class LinearMap(Embedded):
    """Scores that are linear in the normalised features.

    Attributes
    ----------
    label : (n_labels, d + 1) float32: the weights of each feature, and the intercept
    normalisation : as fitted to the training images
    """

    kind: ClassVar[str] = "ridge"
    label: Matrix
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_matrix(self.label, "label", (None, None))

    def vectors(self, queries: Queries) -> Matrix:
        rows = dense(self.normalisation.apply(features_of(queries, self.label.shape[1] - 1)))
        return np.hstack([rows, np.ones((len(rows), 1), dtype=np.float32)])

    def largest_score(self) -> float:
        # Features are checked to be finite where they are read, so only the weights can go wrong.
        return norm(self.label)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"label": self.label} | self.normalisation.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "LinearMap":
        return cls(arrays["label"], Normalisation.from_arrays(arrays, "ridge"))


class Ridge(Control):
    """Ridge regression; images without features are left out of the fit."""

    settings_type = RidgeSettings
    needs = frozenset({"features"})

    def __init__(self, problem: Problem, settings: RidgeSettings) -> None:
        self.problem, self.settings = problem, settings

    def model(self) -> LinearMap:
        features, training = self.problem.features, self.problem.training
        assert features is not None
        images = training.images[features.known[training.images]]
        if len(images) == 0:
            raise UserError("ridge: none of the images to learn from has features")
        normalisation = Normalisation.fit(self.settings.normalise or (), features, images)
        rows = dense(normalisation.apply(features.rows(images))).astype(np.float64)
        labels = training.labels.rows(images)
        truth = np.zeros((len(images), labels.n_labels))
        truth[labels.image_of_pair, labels.label_of_pair] = 1
        means, frequency = rows.mean(axis=0), truth.mean(axis=0)
        rows -= means
        gram = rows.T @ rows
        gram[np.diag_indices_from(gram)] += self.settings.regularisation
        weight = np.linalg.solve(gram, rows.T @ (truth - frequency))
        label = np.vstack([weight, frequency - means @ weight]).T
        return LinearMap(np.ascontiguousarray(label, dtype=np.float32), normalisation)


def dense(rows: Rows) -> NDArray[Any]:
    """Return rows of features as a NumPy array."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


MODEL = LinearMap
METHOD = Ridge
