"""Ridge regression of the label matrix on image features, in closed form.

    W = (Xc' Xc + a I)^-1 Xc' (Y - mean of Y),   score = (x - mean of X) W + mean of Y

X are the normalised features of the training images, Xc their differences from the mean, Y is 1 where an image carries
a label. The intercept is not penalised, and a is added to the undivided Xc' Xc. All sums are in float64.

Source: Hoerl and Kennard, "Ridge regression", Technometrics 12, 1970.
"""

import numpy as np
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.features import Normalisation, Step
from vsebench.methods.base import Control, Settings
from vsebench.methods.linear_map import LinearMap, dense
from vsebench.problem import Problem


class RidgeSettings(Settings):
    """Settings of ridge regression."""

    regularisation: float = Field(gt=0)  # a
    # Steps that the features go through, in this order; none: those of the data set's file.
    normalise: tuple[Step, ...] | None = Field(default=None, strict=False)


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


METHOD = Ridge
