"""Base distances between images, one for each set of features, and the base class of models that sum these distances.

    d_b(i, j) = |x_ib - x_jb|^2,   D(i, j) = sum over the sets b of c_b d_b(i, j)

x_ib contains the normalised features of image i in set b, scaled to unit length; a vector of zeros stays as it is. c_b
is the weight of set b. A row contains the vectors of one image, set after set. If the columns of each set b are
multiplied by sqrt(c_b), the squared Euclidean distance between rows i and j is D(i, j). So one exact search among the
multiplied rows finds the nearest images.

Source: Guillaumin, Mensink, Verbeek and Schmid, "TagProp", ICCV 2009, section 3, who add up distances of 15 sets of
features.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from vsebench.data.chunks import even_chunks
from vsebench.data.features import Block, Normalisation, Rows, csr
from vsebench.data.problem import Ids, LabelMatrix, Matrix, Queries
from vsebench.methods.base import Solved
from vsebench.methods.by_features.neighbours import (
    Numbers,
    Search,
    check_rows,
    labels_from_arrays,
    labels_to_arrays,
    prepare,
    rows_from_arrays,
    rows_to_arrays,
    squared_lengths,
)
from vsebench.methods.by_features.seen import FeatureSettings
from vsebench.models import Model, check_matrix, features_of

PAIRS_A_CHUNK = 1 << 22  # number of distances in memory at once (32 MiB)
SAMPLED = 5000  # number of images among which the largest distance is searched for
RELEVANT = 1e-9  # a mean or largest distance below this is a rounding error, because rows have unit length
SMALL_GRADIENT = 1e-6  # largest component of the projected gradient that counts as 0 at a minimum
SECOND_KEY = 1e-9  # the largest value of the second key, which orders labels that no neighbour has


def unit_rows(rows: Rows, blocks: Sequence[Block]) -> Rows:
    """Return the rows, with each set of features in each row scaled to unit length.

    `rows` is (n, d) float32, dense or CSR. If a set has only zeros in a row, they stay zeros.
    """
    if len(blocks) == 1:
        return prepare(rows, "cosine")
    parts = [prepare(part_of(rows, block), "cosine") for block in blocks]
    if not sparse.issparse(rows):
        return np.concatenate(parts, axis=1)
    joined = sparse.hstack(parts, format="csr")
    return csr(joined.data, joined.indices, joined.indptr, joined.shape)


def multiplied(rows: Rows, factors: Matrix) -> Rows:
    """Return the rows, with each column multiplied by its factor.

    `rows` is (n, d) float32, dense or CSR; `factors` is (d,) float32.
    """
    if not sparse.issparse(rows):
        return rows * factors
    return csr(rows.data * factors[rows.indices], rows.indices, rows.indptr, rows.shape)


def part_of(rows: Rows, block: Block) -> Rows:
    """Return the columns of one set of features: a C-contiguous array if `rows` is dense, otherwise CSR."""
    part = rows[:, block.start : block.stop]
    return part if sparse.issparse(rows) else np.ascontiguousarray(part)


def mean_distances(rows: Rows, blocks: Sequence[Block]) -> Numbers:
    """Return the mean squared Euclidean distance over all pairs of rows, for each set of features.

    The result has shape (n_sets,). If all rows of a set are equal, its result is 1 instead of 0.
    """
    means = np.empty(len(blocks))
    for number, block in enumerate(blocks):
        part = part_of(rows, block)
        centre = np.asarray(part.mean(axis=0, dtype=np.float64))
        means[number] = 2 * (squared_lengths(part).mean() - centre @ centre)
    return np.where(means > RELEVANT, means, 1)


def largest_distances(rows: Rows, blocks: Sequence[Block]) -> Numbers:
    """Return the largest squared Euclidean distance between two rows, for each set of features.

    At most 5,000 evenly spaced rows are compared. The result has shape (n_sets,). If all compared rows of a set are
    equal, its result is 1 instead of 0.
    """
    chosen = np.unique(np.linspace(0, rows.shape[0] - 1, min(rows.shape[0], SAMPLED)).astype(np.int64))
    largest = np.zeros(len(blocks))
    for number, block in enumerate(blocks):
        part = part_of(rows[chosen], block)
        squares = squared_lengths(part)
        for start, stop in even_chunks(len(chosen), max(PAIRS_A_CHUNK // len(chosen), 1)):
            products = part[start:stop] @ part.T
            products = products.toarray() if sparse.issparse(products) else products
            distances = squares[start:stop, np.newaxis] + squares - 2.0 * products
            largest[number] = max(largest[number], distances.max())
    return np.where(largest > RELEVANT, largest, 1)


def column_factors(blocks: Sequence[Block], weights: Numbers) -> Matrix:
    """Return the factor of each column: the square root of the weight of the column's set.

    `weights` is (n_sets,). The result is (d,) float32.
    """
    widths = [block.stop - block.start for block in blocks]
    return np.repeat(np.sqrt(weights), widths).astype(np.float32)


def squared_distances(search: Search, queries: Rows, near: Ids) -> Numbers:
    """Return the squared distances between each query and its k rows in `near`.

    `near`, (m, k), contains indices of `search.rows`. The result has the same shape.
    """
    return np.asarray(search.distances(queries, near) ** 2)


def shares_of(labels: LabelMatrix) -> Numbers:
    """Return the number of images with each label, divided by the largest of these numbers.

    The result has shape (n_labels,).
    """
    counts = np.bincount(labels.label_of_pair, minlength=labels.n_labels)
    return np.asarray(counts / max(counts.max(initial=0), 1))


def least_weights(
    loss: Callable[..., tuple[float, Numbers]],
    start: Numbers,
    arguments: tuple[Any, ...],
    iterations: int,
    accepted: float,
) -> tuple[Numbers, Solved]:
    """Minimise a loss over weights w >= 0 by L-BFGS with bounds; return w and how the minimisation ended.

    Parameters
    ----------
    loss : the function loss(w, *arguments), which returns the loss and the derivative of the loss with respect to w
    start : the initial w
    iterations : maximum number of iterations
    accepted : the result counts as the minimum if no component of the projected gradient is larger than this. L-BFGS
        aims at components of at most `SMALL_GRADIENT`, but rounding can end it earlier
    """
    from scipy.optimize import minimize  # the import takes 0.1 seconds, and Snakemake imports this module

    options = {"maxiter": iterations, "maxfun": 3 * iterations, "gtol": SMALL_GRADIENT, "ftol": 0}
    bounds = [(0, None)] * len(start)
    best = minimize(loss, start, args=arguments, method="L-BFGS-B", jac=True, bounds=bounds, options=options)
    inner = np.where((best.x > 0) | (best.jac < 0), best.jac, 0)
    gradient = float(np.abs(inner).max())
    return np.asarray(best.x), Solved(gradient <= accepted, int(best.nit), gradient)


@dataclass(frozen=True)
class DistanceModel(Model):
    """The base class of models that compare images by a weighted sum of squared distances, one per set of features.

    Attributes
    ----------
    features : (n, d) float32, dense or CSR, the features of the training images. Each set is scaled to unit length, and
        each column is then multiplied by its number in `factors`
    factors : (d,) float32, the square root of the weight of each column in squared distances
    labels : n rows, the training images' labels
    settings : the settings, of the class `settings_type`
    normalisation : the normalisation fitted to the training images
    """

    settings_type: ClassVar[type[FeatureSettings]] = FeatureSettings
    features: Rows
    factors: Matrix
    labels: LabelMatrix
    settings: Any
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_rows(self.features, "features", self.labels.n_rows)
        check_matrix(self.factors, "factors", (self.features.shape[1],))
        if self.blocks[-1].stop != self.features.shape[1]:
            raise ValueError(
                f"features have {self.features.shape[1]} columns, but the sets of features have {self.blocks[-1].stop}"
            )
        if self.labels.n_rows == 0:
            raise ValueError("features have no row")

    @property
    def n_labels(self) -> int:
        return self.labels.n_labels

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The columns of each set of features; features without named sets count as one set."""
        return blocks_of(self.normalisation, self.features.shape[1])

    @cached_property
    def _search(self) -> Search:
        return Search(self.features, "euclidean")

    @cached_property
    def _second_key(self) -> Numbers:
        """(n_labels,): small multiples of the training frequencies, which order the labels that no neighbour has."""
        return SECOND_KEY * shares_of(self.labels)

    def prepared(self, queries: Queries) -> Rows:
        """Return the (m, d) features of the queries, normalised, scaled and multiplied like `features`."""
        rows = self.normalisation.apply(features_of(queries, self.features.shape[1]))
        return multiplied(unit_rows(rows, self.blocks), self.factors)

    def largest_score(self) -> float:
        numbers = self.features.data if sparse.issparse(self.features) else self.features
        return float(np.abs(numbers).max(initial=0.0))  # scores are sums of shares of votes, finite for finite features

    def arrays(self) -> dict[str, NDArray[Any]]:
        own: dict[str, NDArray[Any]] = {
            "factors": self.factors,
            "n_labels": np.array(self.labels.n_labels),
            **labels_to_arrays(self.labels),
            "settings": np.array(self.settings.model_dump_json()),
        }
        return rows_to_arrays(self.features, "features") | own | self.normalisation.arrays()

    @classmethod
    def settings_to_keep(cls, settings: FeatureSettings) -> FeatureSettings:
        """Return the settings that the model keeps: those that are fields of `settings_type`."""
        return cls.settings_type(**settings.model_dump(include=set(cls.settings_type.model_fields)))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        return cls(**cls.fields_of(arrays))

    @classmethod
    def fields_of(cls, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        """Return the values of the attributes by name, read from the saved arrays; a subclass adds its attributes."""
        return {
            "features": rows_from_arrays(arrays, "features"),
            "factors": arrays["factors"],
            "labels": labels_from_arrays(arrays, int(arrays["n_labels"])),
            "settings": cls.settings_type.model_validate_json(str(arrays["settings"])),
            "normalisation": Normalisation.from_arrays(arrays, cls.kind),
        }


def blocks_of(normalisation: Normalisation, dimensions: int) -> tuple[Block, ...]:
    """Return the columns of each set of features; without named sets, all `dimensions` columns count as one set."""
    return normalisation.named or (Block("", 0, dimensions),)
