"""Base distances between images, one for each set of features, and the base class of models that add them up.

    d_b(i, j) = |x_ib - x_jb|^2,   D(i, j) = sum over the sets b of c_b d_b(i, j)

x_ib is the vector of image i in set b, normalised and then scaled to unit length; a row of zeros stays as it is. c_b is
the weight of set b. If the columns of each set b are multiplied by sqrt(c_b), the squared Euclidean distance of two
rows is D. So one exact search among the multiplied rows finds the nearest images.

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
    """Scale each set of features in each row to unit length; zeros stay zeros. `rows`: (n, d) float32, dense or CSR."""
    if len(blocks) == 1:
        return prepare(rows, "cosine")
    parts = [prepare(part_of(rows, block), "cosine") for block in blocks]
    if not sparse.issparse(rows):
        return np.concatenate(parts, axis=1)
    joined = sparse.hstack(parts, format="csr")
    return csr(joined.data, joined.indices, joined.indptr, joined.shape)


def multiplied(rows: Rows, factors: Matrix) -> Rows:
    """Multiply each column of rows, (n, d) float32, dense or CSR, by its factor, (d,) float32."""
    if not sparse.issparse(rows):
        return rows * factors
    return csr(rows.data * factors[rows.indices], rows.indices, rows.indptr, rows.shape)


def part_of(rows: Rows, block: Block) -> Rows:
    """Return the columns of a set of features, C-contiguous or CSR."""
    part = rows[:, block.start : block.stop]
    return part if sparse.issparse(rows) else np.ascontiguousarray(part)


def mean_distances(rows: Rows, blocks: Sequence[Block]) -> Numbers:
    """Return the mean of each set's d_b over all pairs of rows, (n_sets,); 1 for a set whose rows are all equal."""
    means = np.empty(len(blocks))
    for number, block in enumerate(blocks):
        part = part_of(rows, block)
        centre = np.asarray(part.mean(axis=0, dtype=np.float64))
        means[number] = 2 * (squared_lengths(part).mean() - centre @ centre)
    return np.where(means > RELEVANT, means, 1)


def largest_distances(rows: Rows, blocks: Sequence[Block]) -> Numbers:
    """Return the largest d_b of each set, (n_sets,), among at most 5,000 evenly spaced rows; 1 if it is 0."""
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
    """Return the square root of the weight c_b of each column's set, (d,) float32; `weights` is (n_sets,)."""
    widths = [block.stop - block.start for block in blocks]
    return np.repeat(np.sqrt(weights), widths).astype(np.float32)


def squared_distances(search: Search, queries: Rows, near: Ids) -> Numbers:
    """Return the squared distances, (m, k), from each query to the k rows that `near`, (m, k), lists for it."""
    return np.asarray(search.distances(queries, near) ** 2)


def shares_of(labels: LabelMatrix) -> Numbers:
    """Return each label's number of images divided by the largest of these numbers, (n_labels,)."""
    counts = np.bincount(labels.label_of_pair, minlength=labels.n_labels)
    return np.asarray(counts / max(counts.max(initial=0), 1))


def least_weights(
    loss: Callable[..., tuple[float, Numbers]],
    start: Numbers,
    arguments: tuple[Any, ...],
    iterations: int,
    accepted: float,
) -> tuple[Numbers, Solved]:
    """Return the weights w >= 0 with the smallest loss that L-BFGS with bounds finds, and how the minimisation ended.

    Parameters
    ----------
    loss : returns the loss and its derivative with respect to w; its first argument is w, the others are `arguments`
    start : the initial w
    iterations : maximum number of iterations
    accepted : the result counts as the minimum if no component of the projected gradient is larger than this; because
        of rounding, L-BFGS may end before all components are as small as `SMALL_GRADIENT`
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
    """The base class of models in which the distance between images is a weighted sum of base distances.

    Attributes
    ----------
    features : (n, d) float32, the training images' features, dense or CSR: each set scaled to unit length, then
        multiplied by `factors`
    factors : (d,) float32, the factor of each column; its square is the weight of the column in squared distances
    labels : n rows, the images' labels
    settings : of the class `settings_type`
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
        """The columns of each set of features; if the sets have no names, all columns are one set."""
        return blocks_of(self.normalisation, self.features.shape[1])

    @cached_property
    def _search(self) -> Search:
        return Search(self.features, "euclidean")

    @cached_property
    def _second_key(self) -> Numbers:
        """(n_labels,): small numbers that order labels without a vote by their training frequency."""
        return SECOND_KEY * shares_of(self.labels)

    def prepared(self, queries: Queries) -> Rows:
        """Return the features of queries, (m, d), scaled and multiplied like `features`."""
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
        """Return the settings that the model keeps; a subclass leaves out those that only the fit needs."""
        return cls.settings_type(**settings.model_dump(include=set(cls.settings_type.model_fields)))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        return cls(**cls.fields_of(arrays))

    @classmethod
    def fields_of(cls, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        """Return the attributes' values, taken from the saved arrays; a subclass adds its own attributes."""
        return {
            "features": rows_from_arrays(arrays, "features"),
            "factors": arrays["factors"],
            "labels": labels_from_arrays(arrays, int(arrays["n_labels"])),
            "settings": cls.settings_type.model_validate_json(str(arrays["settings"])),
            "normalisation": Normalisation.from_arrays(arrays, cls.kind),
        }


def blocks_of(normalisation: Normalisation, dimensions: int) -> tuple[Block, ...]:
    """Return the columns of each set of features; if the sets have no names, all `dimensions` columns are one set."""
    return normalisation.named or (Block("", 0, dimensions),)
