"""CCA-KNN: nearest training images in the space of a canonical correlation analysis of images and labels.

    x = features of an image
    t = mean of the word vectors of its labels, or a vector with 1 for its labels and 0 for all others
    (C_xx + a I)^(-1/2) C_xt (C_tt + b I)^(-1/2) = U D V'
    vector of an image = D^q U' (C_xx + a I)^(-1/2) (x - mean of x)

C_xx, C_xt and C_tt are the sums of x x', x t' and t t' over the training images with a label, after x and t are
centred. U D V' is a singular value decomposition. The diagonal of D contains the canonical correlations in descending
order; only the `components` largest are kept. The exponent q is the setting `power`. As in `nearest_images`, a label's
score is the sum of the weights of the nearest training images that have the label. The nearest images are those whose
vectors have the largest cosines with the vector of the image to annotate, and their weights are exponentials of these
cosines.

Source: Murthy, Maji and Manmatha, "Automatic image annotation using deep learning representations", ICMR 2015; for
powers of D: Gong, Ke, Isard and Lazebnik, "A multi-view embedding space for modeling internet images, tags, and their
semantics", IJCV 106, 2014.

Choices made here:

- The image to annotate and the training images are both represented by their features, because a new image has no
  labels.
- a is `regularisation` times the mean of the diagonal of C_xx; b is computed from C_tt in the same way.
- An image is left out of the analysis if none of its labels has a word vector, but it remains a possible neighbour.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.linalg import cholesky, solve_triangular, svd

from vsebench.core.errors import UserError
from vsebench.data.problem import LabelMatrix, Matrix, Queries
from vsebench.methods.base import Size
from vsebench.methods.by_features.linear_map import dense
from vsebench.methods.by_features.neighbours import (
    NeighbourModel,
    NeighbourSettings,
    Search,
    prepare,
    second_key_of,
)
from vsebench.methods.by_features.seen import FeatureControl, FeatureSettings, Seen, see
from vsebench.models import check_matrix, features_of

Numbers = NDArray[np.float64]


class CcaSettings(FeatureSettings):
    """Settings of CCA-KNN."""

    components: int = Field(ge=1)  # number of canonical components to keep; all if there are fewer
    # The matrices C_xx of the features and C_tt of the labels are regularised: the mean of each matrix's diagonal,
    # multiplied by this number, is added to the diagonal.
    regularisation: float = Field(gt=0)
    power: float = Field(default=1.0, ge=0)  # q; each component is multiplied by its correlation to the power q
    neighbours: int = Field(ge=1)  # number of nearest images
    sharpness: float = Field(gt=0)  # the weight of a neighbour is exp(sharpness (cosine - cosine of the nearest))

    def of_neighbours(self) -> NeighbourSettings:
        """Return the settings of the search for neighbours in the common space of images and labels."""
        return NeighbourSettings(neighbours=self.neighbours, weights="exponential", sharpness=self.sharpness)


@dataclass(frozen=True)
class CommonSpaceNeighbours(NeighbourModel):
    """Scores labels by the training images that are nearest in a linear projection of the features.

    Attributes
    ----------
    features : (n, K) float32, the projected features of the training images, scaled to unit length
    projection : (d, K) float32, the matrix that projects d normalised features to K components
    offset : (K,) float32, added to projected features before they are scaled
    """

    kind: ClassVar[str] = "cca_knn"
    projection: Matrix
    offset: Matrix

    def __post_init__(self) -> None:
        super().__post_init__()
        check_matrix(self.projection, "projection", (None, self.features.shape[1]))
        check_matrix(self.offset, "offset", (self.features.shape[1],))

    @cached_property
    def _search(self) -> Search:
        return Search(self.features, "cosine")

    def prepared(self, queries: Queries) -> Matrix:
        rows = self.normalisation.apply(features_of(queries, len(self.projection)))
        projected: Matrix = prepare(rows @ self.projection + self.offset, "cosine")
        return projected

    def scores(self, queries: Queries) -> Matrix:
        return self.scores_among(self._search, self.prepared(queries), self.labels)

    def largest_score(self) -> float:
        return super().largest_score() + 0 * float(np.abs(self.projection).sum() + np.abs(self.offset).sum())

    def arrays(self) -> dict[str, NDArray[Any]]:
        return super().arrays() | {"projection": self.projection, "offset": self.offset}

    @classmethod
    def fields_of(cls, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        return super().fields_of(arrays) | {"projection": arrays["projection"], "offset": arrays["offset"]}


def canonical(left: Numbers, right: Numbers, components: int, regularisation: float) -> tuple[Numbers, Numbers]:
    """Return the projection of `left` and the correlations of a canonical correlation analysis.

    Parameters
    ----------
    left : (n, d), with centred columns
    right : (n, m), with centred columns
    components : maximum number of components to keep; K is the smallest of `components`, d and m
    regularisation : the mean of the diagonal of left' left, multiplied by this number, is added to this diagonal; the
        diagonal of right' right is changed in the same way

    Returns
    -------
    (d, K) float64, the matrix that projects the rows of `left` to the K components.
    (K,) float64, the canonical correlations in descending order.
    """
    factors = [_factor(rows, regularisation) for rows in (left, right)]
    middle = solve_triangular(factors[0], left.T @ right, lower=True)
    middle = solve_triangular(factors[1], middle.T, lower=True).T
    directions, correlations, _ = svd(middle, full_matrices=False)
    projection = solve_triangular(factors[0], directions[:, :components], lower=True, trans="T")
    return projection, correlations[:components]


def _factor(rows: Numbers, regularisation: float) -> Numbers:
    """Return the lower Cholesky factor of the regularised matrix X'X, where X is `rows`."""
    gram = rows.T @ rows
    gram[np.diag_indices_from(gram)] += regularisation * float(np.diagonal(gram).mean()) or 1.0
    return np.asarray(cholesky(gram, lower=True))


class CcaKnn(FeatureControl):
    """CCA-KNN in which the vector t of an image is the mean of the word vectors of its labels.

    Images without features or labels are left out of the fit.
    """

    needs = frozenset({"features", "word_vectors"})
    settings_type = CcaSettings

    @classmethod
    def least_memory(cls, size: Size, settings: CcaSettings) -> int:
        products = 2 * size.features**2  # C_xx and its factor
        return 8 * (size.images * (size.features + size.labels) + products)

    def text(self, labels: LabelMatrix) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return the vector t of each image, and a mask of the images that have such a vector.

        t is the mean of the unit-length word vectors of the image's labels. If none of the labels has a word vector,
        the image has no such mean, and zeros are returned for it. The vectors are (n, m) float64, and the mask (n,)
        bool.
        """
        words = self.problem.word_vectors
        assert words is not None
        carried = labels.mask() & words.known
        n_words = carried.sum(axis=1)
        vectors = carried.astype(np.float64) @ words.scaled("unit").astype(np.float64)
        return vectors / np.maximum(n_words, 1)[:, np.newaxis], n_words > 0

    def model(self) -> CommonSpaceNeighbours:
        settings: CcaSettings = self.settings
        seen = see(self.problem, settings, only_labelled=True)
        rows = dense(seen.rows).astype(np.float64)
        text, has_text = self.text(seen.labels)
        if not has_text.any():
            raise UserError("cca_knn: no label of the training images has a word vector; use cca_knn_labels")
        middle = rows[has_text].mean(axis=0)
        left, right = rows[has_text] - middle, text[has_text] - text[has_text].mean(axis=0)
        projection, correlations = canonical(left, right, settings.components, settings.regularisation)
        projection = projection * correlations**settings.power
        return self._neighbours(seen, rows, projection, -middle @ projection)

    def _neighbours(self, seen: Seen, rows: Numbers, projection: Numbers, offset: Numbers) -> CommonSpaceNeighbours:
        own = self.settings.of_neighbours()
        # Projected images are divided by their largest number, so that no number is too large or too small for float32.
        scale = float(np.abs(rows @ projection + offset).max()) or 1.0
        matrix, shift = (np.ascontiguousarray(part / scale, dtype=np.float32) for part in (projection, offset))
        features = prepare(dense(seen.rows) @ matrix + shift, "cosine")
        key = second_key_of(seen.labels, own)
        return CommonSpaceNeighbours(features, seen.labels, key, own, seen.normalisation, matrix, shift)


class CcaKnnOfLabels(CcaKnn):
    """CCA-KNN in which the vector t of an image contains 1 for each of its labels and 0 for all others.

    Images without features or labels are left out of the fit.
    """

    needs = frozenset({"features"})

    def text(self, labels: LabelMatrix) -> tuple[Numbers, NDArray[np.bool_]]:
        return labels.mask().astype(np.float64), np.ones(labels.n_rows, dtype=np.bool_)


MODELS = {"cca_knn": CommonSpaceNeighbours}
METHODS = {"cca_knn": CcaKnn, "cca_knn_labels": CcaKnnOfLabels}
