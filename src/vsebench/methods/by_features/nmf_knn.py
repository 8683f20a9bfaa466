"""NMF-KNN: labels of an image from a non-negative factorisation of its neighbours' features and labels.

For each image to annotate, several matrices X are factorised together. Each X has a column for each of the K training
images nearest to the image. There is one matrix for each set of features, with a row per feature, and one matrix for
the labels, with a row per label.

    loss = sum over the matrices of |T (X - U V') M|^2 / |T X M|^2 + (lambda / K) |M (V Q - V*)|^2,   U, V, V* >= 0

Each matrix has its own U, with a column per factor, and its own V, with a row per neighbour. Q is the diagonal matrix
of the column sums of U. V* is the consensus, which is set to the mean of all V after each round of updates. lambda is
the setting `consensus`.

T and M are diagonal matrices of weights. For the label matrix, T gives larger weights to rare labels; for sets of
features, T is the identity. M gives larger weights to the neighbours that have rare labels.

The image to annotate gets coefficients v >= 0, one per factor. They minimise the sum over the sets of features of
|x - U v|^2 / |T X M|^2, where x contains the image's features of the set. The scores of the labels are U v, with the U
of the label matrix.

Source: Kalayeh, Idrees and Shah, "NMF-KNN: image annotation using weighted multi-view non-negative matrix
factorization", CVPR 2014. The multiplicative updates are those of Liu, Wang, Gao and Han, "Multi-view clustering via
joint nonnegative matrix factorization", SDM 2013, extended by the weights. Choices made here, because we could read
only the beginning of the paper on NMF-KNN:

- Neighbours are the training images whose normalised features have the smallest Euclidean distance. With the
  normalisation step `l2`, all sets of features have the same weight in this distance.
- Each matrix is scaled so that the mean of its column sums is 1, which gives the coefficients of all matrices the same
  scale. The error of each matrix is divided by the size |T X M|^2 of this matrix.
- The squared weight of a label in T is (largest frequency / the label's frequency)^rarity. A frequency is a number of
  training images. The squared weight of a neighbour in M is the mean of the squared weights of its labels, or 1 if it
  has none.
- All factorisations start from the same random numbers and take the same number of rounds of updates. No update
  increases the loss.
- Labels with equal scores are ordered by training frequency.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse
from scipy.optimize import nnls

from vsebench.core.errors import UserError
from vsebench.data.features import Normalisation, Rows
from vsebench.data.problem import LabelMatrix, Matrix, Queries
from vsebench.data.streams import Stream, generator
from vsebench.methods.by_features.linear_map import dense
from vsebench.methods.by_features.neighbours import (
    NeighbourSettings,
    Search,
    check_rows,
    labels_from_arrays,
    labels_to_arrays,
    prepare,
    rows_from_arrays,
    rows_to_arrays,
    second_key_of,
)
from vsebench.methods.by_features.seen import FeatureControl, FeatureSettings, see
from vsebench.models import Model, check_matrix, features_of

Numbers = NDArray[np.floating[Any]]
SMALLEST = 1e-12  # added to the divisors of updates


class NmfKnnSettings(FeatureSettings):
    """Settings of NMF-KNN; normalised features must not be negative."""

    neighbours: int = Field(ge=1)  # K, the number of nearest images (all if there are fewer)
    components: int = Field(ge=1)  # number of factors, the columns of U
    consensus: float = Field(ge=0)  # lambda, the weight of the difference from the consensus V*
    rarity: float = Field(ge=0, le=4)  # exponent that increases the squared weights of rare labels; 0: equal weights
    rounds: int = Field(ge=1)  # number of rounds of updates


@dataclass
class View:
    """A matrix X of the neighbours and its factors U and V; `update` changes the factors.

    The symbols are those of the docstring of this module.

    Attributes
    ----------
    numbers : (m, K), X, with a row for each of m features or labels
    importance : (m,), the squares of the diagonal of T
    basis : (m, r), U, with r factors
    coefficients : (K, r), V
    size : |T X M|^2
    """

    numbers: Numbers
    importance: Numbers
    basis: Numbers
    coefficients: Numbers
    size: float

    def update(self, common: Numbers, weights: Numbers, penalty: float) -> None:
        """Update U, rescale U and V, then update V.

        The rescaling divides each column of U by the column's sum, and multiplies the same column of V by this sum.

        Parameters
        ----------
        common : (K, r), V*
        weights : (K,), the squares of the diagonal of M
        penalty : lambda / K
        """
        weighted, price = weights[:, np.newaxis] * self.coefficients, penalty * self.size
        rarity = self.importance[:, np.newaxis]
        up = rarity * (self.numbers @ weighted) + price * (weighted * common).sum(axis=0)
        down = rarity * (self.basis @ (self.coefficients.T @ weighted))
        down += price * self.basis.sum(axis=0) * (weighted * self.coefficients).sum(axis=0)
        self.basis *= up / (down + SMALLEST)
        sums = self.basis.sum(axis=0) + SMALLEST
        self.basis /= sums
        self.coefficients *= sums
        scaled = rarity * self.basis
        up = self.numbers.T @ scaled + price * common
        down = self.coefficients @ (self.basis.T @ scaled) + price * self.coefficients
        self.coefficients *= up / (down + SMALLEST)

    def loss(self, common: Numbers, weights: Numbers, penalty: float) -> float:
        """Return the terms of the loss that belong to this matrix; the parameters are those of `update`."""
        errors = np.square(self.numbers - self.basis @ self.coefficients.T)
        apart = np.square(self.coefficients * self.basis.sum(axis=0) - common).sum(axis=1)
        return float(self.importance @ errors @ weights / self.size + penalty * weights @ apart)


def views_of(
    matrices: Sequence[Numbers], importances: Sequence[Numbers], weights: Numbers, start: Numbers
) -> list[View]:
    """Return the matrices of the neighbours, with the factors from which the updates start.

    Parameters
    ----------
    matrices : (m, K) each, without negative numbers; the mean of the column sums is 1, or all numbers are 0
    importances : (m,) each, the squares of the diagonal of T
    weights : (K,), the squares of the diagonal of M
    start : (K, r), the initial V of every matrix
    """
    views = []
    for numbers, importance in zip(matrices, importances, strict=True):
        size = float(importance @ np.square(numbers) @ weights) or 1.0
        basis = numbers @ start + numbers.mean() + SMALLEST
        views.append(View(numbers, importance, basis / basis.sum(axis=0), start.copy(), size))
    return views


def factorise(views: Sequence[View], common: Numbers, weights: Numbers, penalty: float, rounds: int) -> Numbers:
    """Factorise all matrices together, and return the last consensus V*, (K, r).

    Each round updates the factors of all matrices, and then the consensus.

    Parameters
    ----------
    common : (K, r), the initial V*
    weights : (K,), the squares of the diagonal of M
    penalty : lambda / K
    rounds : number of rounds of updates
    """
    for _ in range(rounds):
        for view in views:
            view.update(common, weights, penalty)
        common = np.mean([view.coefficients for view in views], axis=0)
    return common


def coefficients_of(rows: Sequence[Numbers], views: Sequence[View]) -> Numbers:
    """Return the coefficients v of an image, (r,), one for each of the r factors.

    Of all v >= 0, these minimise the sum over the sets of features of |x - U v|^2 / |T X M|^2.

    Parameters
    ----------
    rows : one array x for each set of features: (m,), the m features of the image in this set
    views : the factorised matrices of the same sets
    """
    scales = [view.size**-0.5 for view in views]
    left = np.vstack([scale * view.basis for scale, view in zip(scales, views, strict=True)])
    right = np.concatenate([scale * row for scale, row in zip(scales, rows, strict=True)])
    return np.asarray(nnls(left, right)[0])


@dataclass(frozen=True)
class NmfNeighbours(Model):
    """Scores labels by a factorisation of the nearest training images.

    Attributes
    ----------
    features : (n, d) float32, the images' normalised features, dense or CSR, not negative
    labels : n rows, the images' labels
    start : (K, r) float32, positive, the initial coefficients of every factorisation
    second_key : (n_labels,) float32, small numbers that order labels with equal scores
    settings : the method's settings
    normalisation : the normalisation fitted to the training images
    """

    kind: ClassVar[str] = "nmf_knn"
    features: Rows
    labels: LabelMatrix
    start: Matrix
    second_key: Matrix
    settings: NmfKnnSettings
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_rows(self.features, "features", self.labels.n_rows)
        check_not_negative(self.features)
        check_matrix(self.start, "start", (min(self.settings.neighbours, self.labels.n_rows), self.settings.components))
        check_matrix(self.second_key, "second_key", (self.labels.n_labels,))
        if not (self.start > 0).all():
            raise ValueError("start: must be positive")

    @property
    def n_labels(self) -> int:
        return self.labels.n_labels

    @cached_property
    def _search(self) -> Search:
        return Search(self.features, "euclidean")

    @cached_property
    def _sets(self) -> list[slice]:
        """The columns of each set of features."""
        named = self.normalisation.named
        return [slice(block.start, block.stop) for block in named] or [slice(None)]

    @cached_property
    def _rarity(self) -> Numbers:
        """The squared weight of each label in T, (n_labels,)."""
        return squared_weights(self.labels, self.settings.rarity).astype(np.float32)

    def scores(self, queries: Queries) -> Matrix:
        rows = self.normalisation.apply(features_of(queries, self.features.shape[1]))
        check_not_negative(rows)
        rows = prepare(rows, "euclidean")
        near, _ = self._search.nearest(rows, len(self.start))
        scores = np.empty((len(near), self.n_labels), dtype=np.float32)
        for i, neighbours in enumerate(near):
            scores[i] = self.scores_from(dense(rows[[i]])[0], neighbours) + self.second_key
        return scores

    def scores_from(self, row: Matrix, neighbours: NDArray[np.int32]) -> Numbers:
        """Return the scores of all labels for an image.

        `row`, (d,), contains the image's normalised features, and `neighbours`, (K,), the numbers of the nearest
        training images.
        """
        features = dense(self.features[neighbours]).astype(np.float32).T
        carried = self.labels.rows(neighbours)
        present = carried.mask().T.astype(np.float32)
        n_carried = carried.n_labels_of_row
        weights = np.where(n_carried > 0, self._rarity @ present / np.maximum(n_carried, 1), 1.0).astype(np.float32)
        matrices = [*(features[columns] for columns in self._sets), present]
        scales = [1 / (matrix.sum(axis=0).mean() or 1.0) for matrix in matrices]
        importances = [*(np.ones(len(matrix), dtype=np.float32) for matrix in matrices[:-1]), self._rarity]
        scaled = [scale * matrix for scale, matrix in zip(scales, matrices, strict=True)]
        views = views_of(scaled, importances, weights, self.start)
        penalty = self.settings.consensus / len(neighbours)
        factorise(views, self.start, weights, penalty, self.settings.rounds)
        own = [scale * row[columns] for scale, columns in zip(scales[:-1], self._sets, strict=True)]
        return np.asarray(views[-1].basis @ coefficients_of(own, views[:-1]) / scales[-1])

    def largest_score(self) -> float:
        numbers = self.features.data if sparse.issparse(self.features) else self.features
        return float(np.abs(numbers).max(initial=0.0)) + float(self.start.max())  # a fit to finite numbers is finite

    def arrays(self) -> dict[str, NDArray[Any]]:
        own: dict[str, NDArray[Any]] = {
            **labels_to_arrays(self.labels),
            "start": self.start,
            "second_key": self.second_key,
            "settings": np.array(self.settings.model_dump_json()),
        }
        return rows_to_arrays(self.features, "features") | own | self.normalisation.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "NmfNeighbours":
        return cls(
            features=rows_from_arrays(arrays, "features"),
            labels=labels_from_arrays(arrays, len(arrays["second_key"])),
            start=arrays["start"],
            second_key=arrays["second_key"],
            settings=NmfKnnSettings.model_validate_json(str(arrays["settings"])),
            normalisation=Normalisation.from_arrays(arrays, cls.kind),
        )


def check_not_negative(rows: Rows) -> None:
    """Raise a `UserError` if rows of features contain a negative number; the rows are dense or CSR."""
    numbers = rows.data if sparse.issparse(rows) else rows
    if (numbers < 0).any():
        raise UserError(
            "nmf_knn: some normalised features are negative, so they have no non-negative factors; set `normalise` to"
            " steps that keep features non-negative, such as [l2]"
        )


def squared_weights(labels: LabelMatrix, rarity: float) -> Numbers:
    """Return the squared weight of each label, (n_labels,).

    The squared weight is (largest frequency / the label's frequency)^rarity. It is 1 for a label that no image has.
    """
    frequency = np.bincount(labels.label_of_pair, minlength=labels.n_labels)
    return np.asarray(
        (frequency.max(initial=1) / np.where(frequency > 0, frequency, frequency.max(initial=1))) ** rarity
    )


class NmfKnnMethod(FeatureControl):
    """NMF-KNN, fitted to the training images that have both features and labels."""

    settings_type = NmfKnnSettings
    is_random = True

    def model(self) -> NmfNeighbours:
        settings: NmfKnnSettings = self.settings
        seen = see(self.problem, settings, only_labelled=True)
        shape = min(settings.neighbours, seen.labels.n_rows), settings.components
        start = generator(self.problem.seed, Stream.START).uniform(0.5, 1.5, shape).astype(np.float32)
        key = second_key_of(seen.labels, NeighbourSettings(neighbours=1, weights="cosine"))
        return NmfNeighbours(prepare(seen.rows, "euclidean"), seen.labels, start, key, settings, seen.normalisation)


MODELS = {"nmf_knn": NmfNeighbours}
METHODS = {"nmf_knn": NmfKnnMethod}
