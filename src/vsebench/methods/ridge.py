"""Ridge regression of the label matrix on image features, in closed form.

    W = (Xc' Xc + a I)^-1 Xc' (Y - mean of Y),   score = (x - mean of X) W + mean of Y

X are the normalised features of the training images, Xc their differences from the mean, Y is 1 where an image carries
a label. The intercept is not penalised, and a is added to the undivided Xc' Xc. All sums are in float64.

Source: Hoerl and Kennard, "Ridge regression", Technometrics 12, 1970.
"""

import numpy as np
from pydantic import Field
from scipy import sparse

from vsebench.features import Rows
from vsebench.methods.linear_map import LinearMap
from vsebench.methods.seen import FeatureControl, FeatureSettings, see
from vsebench.problem import LabelMatrix, Matrix


class RidgeSettings(FeatureSettings):
    """Settings of ridge regression."""

    regularisation: float = Field(gt=0)  # a


class Ridge(FeatureControl):
    """Ridge regression; images without features are left out of the fit."""

    settings_type = RidgeSettings
    settings: RidgeSettings

    def model(self) -> LinearMap:
        seen = see(self.problem, self.settings)
        return LinearMap(least_squares(seen.rows, seen.labels, self.settings.regularisation), seen.normalisation)


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
