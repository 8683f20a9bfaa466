"""Regularised least squares on image features, shared by ridge regression and methods with word vectors.

    W = (Xc' Xc + a I)^-1 Xc' (Y - mean of Y),   intercept = mean of Y - (mean of X) W

X contains the features of the images, and Xc their differences from the mean. The intercept is not penalised. Xc' Xc is
not divided by the number of images before a I is added. All sums are in float64.

Source: Hoerl and Kennard, "Ridge regression", Technometrics 12, 1970.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse

from vsebench.data.features import Rows
from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.methods.by_features.seen import FeatureSettings


class RidgeSettings(FeatureSettings):
    """Settings of ridge regression."""

    regularisation: float = Field(gt=0)  # a, the penalty on squared weights, added to the sum of squared errors


def weighted(labels: LabelMatrix, weights: NDArray[np.float64]) -> sparse.csr_array:
    """Return a label matrix, (n, n_labels) float64, whose entries are the images' weights, (n,)."""
    entries = np.repeat(weights, labels.n_labels_of_row)
    return sparse.csr_array((entries, labels.label_of_pair, labels.offsets), shape=(labels.n_rows, labels.n_labels))


def least_squares(rows: Rows, truth: sparse.csr_array, regularisation: float) -> Matrix:
    """Return each label's weights of the features and its intercept, (n_labels, d + 1) float32.

    Labels and sparse features stay sparse: Xc' (Y - mean of Y) = X'Y - n (mean of X)' (mean of Y), and Xc' Xc = X'X -
    n (mean of X)' (mean of X). Dense features are centred first, which is more precise.

    Parameters
    ----------
    rows : (n, d) float32, dense or CSR
    truth : (n, n_labels) float64, Y
    regularisation : a
    """
    n_images = truth.shape[0]
    rows = rows.astype(np.float64)
    means, frequency = rows.mean(axis=0), truth.sum(axis=0) / n_images
    if sparse.issparse(rows):
        gram = (rows.T @ rows).toarray() - n_images * np.outer(means, means)
        right = (rows.T @ truth).toarray() - n_images * np.outer(means, frequency)
    else:
        rows -= means
        gram, right = rows.T @ rows, (truth.T @ rows).T
    gram[np.diag_indices_from(gram)] += regularisation
    weight = np.linalg.solve(gram, right)
    return np.ascontiguousarray(np.vstack([weight, frequency - means @ weight]).T, dtype=np.float32)
