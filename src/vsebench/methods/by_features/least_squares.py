"""Regularised least squares on image features, shared by ridge regression and methods with word vectors.

    W = (Xc' Xc + a I)^-1 Xc' (Y - mean of Y),   intercept = mean of Y - (mean of X) W

X contains the features of the images, one row per image. Xc is X with the mean of each column subtracted. Y contains
the targets, for example the label matrix. W minimises the sum of the squared errors plus `a` times the sum of the
squared weights; the intercept is not penalised. The squared errors are not averaged over the images. All sums are
computed in float64.

Source: Hoerl and Kennard, "Ridge regression", Technometrics 12, 1970.
"""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Discriminator, Field, Tag
from scipy import sparse

from vsebench.core.yaml_files import Strict
from vsebench.data.features import Rows
from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.methods.base import LARGEST, Size
from vsebench.methods.by_features.seen import FeatureSettings


class Relative(Strict):
    """A penalty that is a multiple of the mean of the diagonal of Xc' Xc, where Xc contains the centred features."""

    relative: float = Field(gt=0, le=LARGEST)  # the factor by which the mean of the diagonal of Xc' Xc is multiplied


def _kind(value: Any) -> str:
    return "relative" if isinstance(value, dict | Relative) else "number"


# With the discriminator, an error message concerns only the form that was given: a number or a mapping.
Penalty = Annotated[
    Annotated[float, Field(gt=0), Tag("number")] | Annotated[Relative, Tag("relative")], Discriminator(_kind)
]


class RidgeSettings(FeatureSettings):
    """Settings of ridge regression."""

    # The penalty `a`: `a` times the sum of the squared weights is added to the sum of the squared errors. With
    # `{relative: r}`, `a` is r times the mean of the diagonal of Xc' Xc, where Xc contains the centred features. One
    # value of r then suits any number of images and any scale of the features.
    regularisation: Penalty


def weighted(labels: LabelMatrix, weights: NDArray[np.float64]) -> sparse.csr_array:
    """Return the label matrix, with each 1 replaced by the weight of the image.

    `weights` is (n,) float64. The result is sparse, (n, n_labels) float64.
    """
    entries = np.repeat(weights, labels.n_labels_of_row)
    return sparse.csr_array((entries, labels.label_of_pair, labels.offsets), shape=(labels.n_rows, labels.n_labels))


def least_squares(rows: Rows, truth: sparse.csr_array, regularisation: float | Relative) -> Matrix:
    """Return the feature weights and the intercept of each label, fitted by regularised least squares.

    The result is (n_labels, d + 1) float32; the last column contains the intercepts.

    Centring would make sparse features and labels dense. Therefore, the products of centred matrices are computed as
    Xc' (Y - mean of Y) = X'Y - n (mean of X)' (mean of Y) and Xc' Xc = X'X - n (mean of X)' (mean of X), where Xc is X
    after centring. Dense features are centred first, which is more precise.

    Parameters
    ----------
    rows : (n, d) float32, dense or CSR, the features X
    truth : (n, n_labels) float64, the targets Y, such as the label matrix
    regularisation : the penalty `a` on squared weights, as a number or relative to the mean of the diagonal of Xc' Xc
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
    gram[np.diag_indices_from(gram)] += penalty(gram, regularisation)
    weight = np.linalg.solve(gram, right)
    return np.ascontiguousarray(np.vstack([weight, frequency - means @ weight]).T, dtype=np.float32)


def least_squares_memory(size: Size) -> int:
    """Return a lower bound, in bytes, on the memory that `least_squares` needs for targets with one column per label.

    The bound counts two matrices of shape (d, d) and one of shape (d, n_labels), for d features.
    """
    return 8 * size.features * (2 * size.features + size.labels)


def penalty(gram: NDArray[np.float64], regularisation: float | Relative) -> float:
    """Return the penalty on squared weights as a number.

    A relative penalty is multiplied by the mean of the diagonal of `gram`, the (d, d) matrix of products of the centred
    features. If all features are constant, all weights are 0 whatever the penalty is; a relative penalty is then set to
    1.
    """
    if isinstance(regularisation, Relative):
        return regularisation.relative * float(np.diagonal(gram).mean()) or 1.0
    return regularisation
