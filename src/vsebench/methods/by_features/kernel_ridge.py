"""Kernel ridge regression of the label matrix on image features, with a Gaussian kernel, in closed form.

    A = (K + a I)^-1 Y,   score of an image = sum over the training images m of exp(-g |x - x_m|^2) A_m

x contains the normalised features of an image, scaled to unit length; x_m contains those of training image m. g and a
are the settings `gamma` and `regularisation`. A_m is row m of A. Y has a row for each training image, with 1 for each
label of the image, else 0. K contains the kernel exp(-g |x_l - x_m|^2) of each pair of training images l and m, in
float64. K must fit into memory, so at most `LARGEST` training images are allowed.

Source: Saunders, Gammerman and Vovk, "Ridge regression learning algorithm in dual variables", ICML 1998.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse
from scipy.linalg import solve

from vsebench.core.errors import UserError
from vsebench.data.features import Normalisation, Rows
from vsebench.data.problem import Matrix, Queries
from vsebench.methods.base import Size
from vsebench.methods.by_features.neighbours import (
    check_rows,
    prepare,
    rows_from_arrays,
    rows_to_arrays,
    squared_lengths,
)
from vsebench.methods.by_features.seen import FeatureControl, FeatureSettings, see
from vsebench.models import Embedded, check_matrix, features_of, norm

LARGEST = 30_000  # maximum number of training images, for a kernel matrix of 7.2 GB


class KernelRidgeSettings(FeatureSettings):
    """Settings of kernel ridge regression."""

    gamma: float = Field(gt=0)  # g in the kernel exp(-g |x - y|^2) of two images
    regularisation: float = Field(gt=0)  # a, added to the kernel of each image with itself


@dataclass(frozen=True)
class KernelMap(Embedded):
    """Scores are weighted sums of the kernels between an image and the training images.

    Attributes
    ----------
    label : (n_labels, n) float32, for each label the weights of the training images
    features : (n, d) float32, dense or CSR, the normalised features of the training images, scaled to unit length
    gamma : g in the kernel exp(-g |x - y|^2) of two images
    normalisation : the normalisation fitted to the training images
    """

    kind: ClassVar[str] = "kernel_ridge"
    label: Matrix
    features: Rows
    gamma: float
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_matrix(self.label, "label", (None, None))
        check_rows(self.features, "features", self.label.shape[1])
        if not 0 < self.gamma < np.inf:
            raise ValueError(f"gamma is {self.gamma}, not a finite number above 0")

    def vectors(self, queries: Queries) -> Matrix:
        rows = self.normalisation.apply(features_of(queries, self.features.shape[1]))
        return gaussian(prepare(rows, "cosine"), self.features, self.gamma).astype(np.float32)

    def largest_score(self) -> float:
        return norm(self.label) * float(np.sqrt(self.label.shape[1]))  # a kernel is at most 1

    def arrays(self) -> dict[str, NDArray[Any]]:
        own = {"label": self.label, "gamma": np.array(self.gamma)}
        return own | rows_to_arrays(self.features, "features") | self.normalisation.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "KernelMap":
        normalisation = Normalisation.from_arrays(arrays, cls.kind)
        return cls(arrays["label"], rows_from_arrays(arrays, "features"), float(arrays["gamma"]), normalisation)


def gaussian(left: Rows, right: Rows, gamma: float) -> NDArray[np.float64]:
    """Return the Gaussian kernel exp(-gamma |x - y|^2) of each row x of `left` and each row y of `right`.

    `left` is (m, d), and `right` is (n, d). The result is (m, n) float64.
    """
    products = left @ right.T
    squares = np.asarray(products.toarray() if sparse.issparse(products) else products, dtype=np.float64)
    squares *= -2
    squares += squared_lengths(left)[:, np.newaxis]
    squares += squared_lengths(right)
    np.maximum(squares, 0, out=squares)
    squares *= -gamma
    return np.asarray(np.exp(squares, out=squares))


class KernelRidge(FeatureControl):
    """Kernel ridge regression; images without features are left out of the fit."""

    settings_type = KernelRidgeSettings

    @classmethod
    def least_memory(cls, size: Size, settings: KernelRidgeSettings) -> int:
        return 8 * size.images * (size.images + size.labels)  # K and Y

    def model(self) -> KernelMap:
        seen = see(self.problem, self.settings)
        if seen.labels.n_rows > LARGEST:
            raise UserError(
                f"kernel_ridge: there are {seen.labels.n_rows} training images, but at most {LARGEST} are allowed; use"
                " another method"
            )
        rows = prepare(seen.rows, "cosine")
        kernel = gaussian(rows, rows, self.settings.gamma)
        kernel[np.diag_indices_from(kernel)] += self.settings.regularisation
        labels = seen.labels
        truth = np.zeros((labels.n_rows, labels.n_labels), order="F")
        truth[labels.image_of_pair, labels.label_of_pair] = 1
        dual = solve(kernel, truth, assume_a="pos", overwrite_a=True, overwrite_b=True, check_finite=False)
        label = np.ascontiguousarray(dual.T, dtype=np.float32)
        return KernelMap(label, rows, self.settings.gamma, seen.normalisation)


MODELS = {"kernel_ridge": KernelMap}
METHODS = {"kernel_ridge": KernelRidge}
