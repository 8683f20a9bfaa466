"""Ridge regression of the label matrix on image features, in closed form.

    W = (Xc' Xc + a I)^-1 Xc' (Y - mean of Y),   score = (x - mean of X) W + mean of Y

X are the normalised features of the training images, Xc their differences from the mean, Y is 1 where an image carries
a label. The intercept is not penalised, and a is added to the undivided Xc' Xc. All sums are in float64.

Source: Hoerl and Kennard, "Ridge regression", Technometrics 12, 1970.
"""

import numpy as np
from pydantic import Field
from scipy import sparse

from vsebench.core.errors import UserError
from vsebench.features import Normalisation, Rows, Step
from vsebench.methods.base import Control, Settings
from vsebench.methods.linear_map import LinearMap
from vsebench.problem import LabelMatrix, Matrix, Problem


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
        rows = normalisation.apply(features.rows(images))
        return LinearMap(least_squares(rows, training.labels.rows(images), self.settings.regularisation), normalisation)


def least_squares(rows: Rows, labels: LabelMatrix, regularisation: float) -> Matrix:
    """Return the weights of each feature and the intercept, (n_labels, d + 1) float32.

    Neither labels nor sparse features are made dense: Xc' (Y - mean of Y) = X'Y - n (mean of X)' (mean of Y), and
    Xc' Xc = X'X - n (mean of X)' (mean of X). Dense features are centred first, which loses no digits.

    Parameters
    ----------
    rows : (n, d) float32, dense or CSR
    labels : n rows
    regularisation : a
    """
    n_images, entries = labels.n_rows, (np.ones(labels.n_pairs), labels.label_of_pair, labels.offsets)
    truth = sparse.csr_array(entries, shape=(n_images, labels.n_labels))
    rows = rows.astype(np.float64)
    means, frequency = rows.mean(axis=0), np.bincount(labels.label_of_pair, minlength=labels.n_labels) / n_images
    if sparse.issparse(rows):
        gram = (rows.T @ rows).toarray() - n_images * np.outer(means, means)
        right = (rows.T @ truth).toarray() - n_images * np.outer(means, frequency)
    else:
        rows -= means
        gram, right = rows.T @ rows, (truth.T @ rows).T
    gram[np.diag_indices_from(gram)] += regularisation
    weight = np.linalg.solve(gram, right)
    return np.ascontiguousarray(np.vstack([weight, frequency - means @ weight]).T, dtype=np.float32)


METHOD = Ridge
