"""Settings, search and model that the methods of nearest neighbours share.

These methods score labels by the training images that are nearest to an image.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from scipy import sparse

from vsebench.core.errors import UserError
from vsebench.data.chunks import even_chunks
from vsebench.data.features import Features, Normalisation, Rows, csr
from vsebench.data.problem import Ids, LabelMatrix, Matrix, Queries
from vsebench.kernels.ranking.neighbours import (
    add_lists,
    add_scan,
    add_votes,
    dense_products,
    nearest_dense,
    nearest_sparse,
    round_in_order,
    sparse_products,
)
from vsebench.methods.by_features.seen import FeatureSettings
from vsebench.models import Model, check_matrix, features_of

Numbers = NDArray[np.float64]
Distance = Literal["cosine", "euclidean"]

# Number of inner products in memory at once (32 MiB). Smaller blocks of queries make the matrix product slower, and
# larger blocks make the search slower.
PRODUCTS = 1 << 23
SPARSE_PRODUCTS = 1 << 22  # number of products in memory for sparse features; these 16 MiB fit into the largest cache
COMMON = 0.1  # if a larger share of the rows have a feature, a dense product is faster than lists (measured)
UNIT = 2.0**-24  # the largest relative error of one rounding to float32
PAIRS = ("offsets", "label_of_pair", "count_of_pair")  # the arrays of a `LabelMatrix`
LONGEST = 1e37  # squared lengths of rows must be below this, so that sums and differences of products fit into float32
SMALLEST_DISTANCE = 1e-12  # smaller distances are replaced by this one, so that inverses are finite
# The largest value of the second key, which orders labels with equal sums, for each kind of weights. With the weights
# `equal`, sums are integers, so a second key of at most 0.5 does not change the order of labels with different sums.
SECOND_KEY = {"equal": 0.5, "cosine": 1e-6, "exponential": 1e-6, "inverse_distance": 1e-6}


class NeighbourSettings(FeatureSettings):
    """Settings of methods that score labels by an image's neighbours: the most similar training images."""

    neighbours: int | None = Field(ge=1)  # number of nearest images (all if there are fewer); null: all images
    skipped: int = Field(default=0, ge=0)  # number of images to skip, starting with the nearest
    distance: Distance = "cosine"  # the distance between images
    # The probability that a near image is found. If an image is missed, the next nearest image takes its place. All
    # searches for the neighbours of the same image miss the same images. If this probability is below 1, a search is
    # slower, because it sorts all images.
    found: float = Field(default=1.0, gt=0, le=1)
    only_first: bool = False  # whether only the nearest image can be missed
    # The weight of a neighbour with the cosine c and the distance e. `equal`: 1. `cosine`: c^power, or 0 if c < 0.
    # `exponential`: exp(sharpness (c - c of the nearest image)). `inverse_distance`: 1 / e.
    weights: Literal["equal", "cosine", "exponential", "inverse_distance"] = "equal"
    power: float = Field(default=1.0, gt=0)  # the exponent in the weights `cosine`
    sharpness: float = Field(default=20.0, gt=0)  # the factor in the weights `exponential`

    @model_validator(mode="after")
    def _fitting(self) -> "NeighbourSettings":
        if self.only_first and self.found == 1:
            raise PydanticCustomError(
                "only_first", "only_first: has no effect unless `found` is below 1; lower `found`, or remove this key"
            )
        if self.weights in ("cosine", "exponential") and self.distance != "cosine":
            raise PydanticCustomError("weights", f"weights: '{self.weights}' needs `distance: cosine`")
        return self


def prepare(rows: Rows, distance: Distance) -> Rows:
    """Return rows of features in the format that `Search` reads.

    The result is float32 and has the same shape as `rows`, (n, d). It is either a C-contiguous array or a
    scipy.sparse.csr_array. For the distance "cosine", the rows are scaled to unit length; rows of zeros stay zeros.
    """
    numbers = rows.data if sparse.issparse(rows) else np.ascontiguousarray(rows, dtype=np.float32)
    if distance == "cosine":
        lengths = np.sqrt(squared_lengths(rows))
        lengths[lengths == 0] = 1
        divisors = np.repeat(lengths, np.diff(rows.indptr)) if sparse.issparse(rows) else lengths[:, np.newaxis]
        numbers = (numbers / divisors).astype(np.float32)
    return csr(numbers, rows.indices, rows.indptr, rows.shape) if sparse.issparse(rows) else numbers


def squared_lengths(rows: Rows) -> Numbers:
    """Return the squared Euclidean length of each row, (n,) float64; the rows are dense or CSR."""
    if not sparse.issparse(rows):
        return np.asarray(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))
    row_of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    sums = np.bincount(row_of_entry, rows.data.astype(np.float64) ** 2, minlength=rows.shape[0])
    return np.asarray(sums, dtype=np.float64)


def check_rows(rows: Rows, name: str, n_rows: int) -> None:
    """Check rows of features, because the kernels do not check them.

    Raises
    ------
    ValueError
        There are not `n_rows` rows, or dense rows are not a C-contiguous float32 matrix.
    UserError
        CSR rows have the wrong type, column numbers in the wrong order, or numbers that are not finite.
    """
    if not sparse.issparse(rows):
        check_matrix(rows, name, (n_rows, None))
    elif rows.shape[0] != n_rows:
        raise ValueError(f"{name} has {rows.shape[0]} rows, not {n_rows}")
    else:
        Features(rows, np.ones(n_rows, dtype=np.bool_), where=name)


def rows_to_arrays(rows: Rows, name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays that store rows of features in a model's file.

    Dense rows are stored as one array with the name `name`. CSR rows are stored as four arrays, whose names begin with
    `name`.
    """
    if not sparse.issparse(rows):
        return {name: rows}
    parts = {"data": rows.data, "indices": rows.indices, "offsets": rows.indptr, "shape": np.array(rows.shape)}
    return {f"{name}.{part}": array for part, array in parts.items()}


def rows_from_arrays(arrays: Mapping[str, NDArray[Any]], name: str) -> Rows:
    """Return the rows that `rows_to_arrays` turned into arrays; the rows are not checked."""
    if f"{name}.shape" not in arrays:
        return arrays[name]
    data, indices, offsets, shape = (arrays[f"{name}.{part}"] for part in ("data", "indices", "offsets", "shape"))
    n_rows, dimensions = shape.tolist()
    return csr(data, indices, offsets, (n_rows, dimensions))


def labels_to_arrays(labels: LabelMatrix) -> dict[str, NDArray[Any]]:
    """Return the arrays that store the labels of training images in a model's file."""
    return {name: getattr(labels, name) for name in PAIRS}


def labels_from_arrays(arrays: Mapping[str, NDArray[Any]], n_labels: int) -> LabelMatrix:
    """Return the labels that `labels_to_arrays` turned into arrays."""
    return LabelMatrix(n_labels, *(arrays[name] for name in PAIRS))


@dataclass(frozen=True)
class Search:
    """Exact search for nearest rows.

    Attributes
    ----------
    rows : (n, d), from `prepare`
    distance : the distance that the rows were prepared for
    by_lists : whether the search in sparse rows uses inverted lists; if there are few rows, as in a leaf of a tree, the
        search is faster without these lists
    """

    rows: Rows
    distance: Distance
    by_lists: bool = True

    @property
    def is_sparse(self) -> bool:
        return bool(sparse.issparse(self.rows))

    @cached_property
    def squares(self) -> Numbers:
        """The squared length of each row, (n,)."""
        return squared_lengths(self.rows)

    @cached_property
    def halves(self) -> Numbers:
        """The number to subtract from each row's inner product with a query to get the row's key, (n,).

        The nearest row has the largest key. For the cosine, the number is 0. For the Euclidean distance, it is half of
        the row's squared length.
        """
        return np.zeros(self.rows.shape[0]) if self.distance == "cosine" else self.squares / 2

    @cached_property
    def common(self) -> tuple[NDArray[np.intp], Matrix]:
        """The features that many rows have, and the values of these features.

        For c such features, the first array has shape (c,) and contains their column numbers. The second array has
        shape (c, n) and is float32. It contains the values of these features in all rows.
        """
        features = np.flatnonzero(self._counts > COMMON * self.rows.shape[0])
        return features, np.ascontiguousarray(self.rows[:, features].toarray().T)

    @cached_property
    def lists(self) -> tuple[NDArray[Any], ...]:
        """The inverted lists of the features, in CSC format.

        The list of a feature contains the rows that have the feature. The lists of the features in `common` are empty.
        """
        columns, counts = self.rows.tocsc(), self._counts
        is_common = np.isin(np.arange(len(counts)), self.common[0])
        kept = np.repeat(~is_common, counts)
        offsets = np.concatenate([[0], np.cumsum(np.where(is_common, 0, counts))])
        return columns.data[kept], columns.indices[kept], offsets

    @cached_property
    def _counts(self) -> NDArray[np.intp]:
        """The number of rows that have each feature, (d,)."""
        return np.bincount(self.rows.indices, minlength=self.rows.shape[1])

    def slacks(self, queries: Rows) -> Matrix:
        """Return, for each query, a bound on the rounding error of the difference of two float32 keys.

        The result has shape (m,) and is float32. In whatever order t products are added, the rounding error of their
        sum is at most t times `UNIT` times the sum of their absolute values. By the Cauchy-Schwarz inequality, the sum
        of absolute values is at most the length of the query times the length of the row. The factor 2.02 covers the
        errors of both keys, plus 1 % for products of rounding errors.
        """
        terms = int(np.diff(queries.indptr).max(initial=0)) if self.is_sparse else queries.shape[1]
        longest = np.sqrt(self.squares.max(initial=0))
        bound = (terms + 2) * (np.sqrt(squared_lengths(queries)) * longest + self.halves.max(initial=0))
        return np.asarray(2.02 * UNIT * bound, dtype=np.float32)

    def nearest(self, queries: Rows, k: int) -> tuple[Ids, Matrix]:
        """Return the k nearest rows of each query.

        Parameters
        ----------
        queries : (m, d), from `prepare`, dense or CSR like the rows
        k : number of rows to return for each query, from 1 to n

        Returns
        -------
        (m, k) int32, the numbers of the nearest rows, in ascending order. Of several rows at the same distance, those
            with the smallest numbers are taken.
        (m, k) float32, the keys of these rows. For the cosine, a key is the cosine of query and row. For the Euclidean
            distance, it is half of the query's squared length minus half of the squared distance.
        """
        self._check_range(queries)
        m, n = queries.shape[0], self.rows.shape[0]
        near, keys = np.empty((m, k), dtype=np.int32), np.empty((m, k), dtype=np.float32)
        spread = np.zeros(self.rows.shape[1] if self.is_sparse else 0, dtype=np.float32)
        chunks = even_chunks(m, max((SPARSE_PRODUCTS if self.is_sparse else PRODUCTS) // n, 1))
        largest = 0 if self.is_sparse else max((stop - start for start, stop in chunks), default=0)
        products_of_chunk = np.empty((largest, n), dtype=np.float32)  # reused; a new array per chunk takes 10 % longer
        for start, stop in chunks:
            block = queries[start:stop]
            slacks = self.slacks(block)
            if self.is_sparse:
                keys_of_rows, parts = self._sparse_keys(block, spread), (parts_of(block), parts_of(self.rows))
                nearest = nearest_sparse(keys_of_rows, *parts, self.halves, slacks, spread, k)
            else:
                products = np.matmul(block, self.rows.T, out=products_of_chunk[: len(block)])
                if self.distance == "euclidean":
                    products -= self.halves.astype(np.float32)
                nearest = nearest_dense(products, block, self.rows, self.halves, slacks, k)
            near[start:stop], keys[start:stop] = nearest
        return near, keys

    def _check_range(self, queries: Rows) -> None:
        """Raise a `UserError` if keys could exceed what float32 can represent."""
        longest = max(self.squares.max(initial=0), squared_lengths(queries).max(initial=0))
        if not longest < LONGEST:
            raise UserError(
                f"the feature vector of an image has the norm {np.sqrt(longest):.3g}, which is too large to compute "
                "distances in float32; scale the features, or leave out images whose features are missing"
            )

    def _sparse_keys(self, queries: Rows, spread: Matrix) -> Matrix:
        """Return the keys of all rows for each query.

        The result has shape (m, n) and is float32. `spread` is scratch memory for `add_scan`.
        """
        if self.by_lists:
            features, numbers = self.common
            keys: Matrix = queries[:, features].toarray() @ numbers
        else:
            keys = np.zeros((queries.shape[0], self.rows.shape[0]), dtype=np.float32)
        if self.distance == "euclidean":
            keys -= self.halves.astype(np.float32)
        if self.by_lists:
            add_lists(keys, parts_of(queries), self.lists)
        else:
            add_scan(keys, parts_of(queries), parts_of(self.rows), spread)
        return keys

    def distances(self, queries: Rows, near: Ids) -> Numbers:
        """Return the distances from each query to the rows that `near` lists for it.

        `near`, (m, k), contains the numbers of k rows for each query. The result has the same shape and is float64. For
        the cosine, the distance is 1 minus the cosine.
        """
        if self.is_sparse:
            spread = np.zeros(self.rows.shape[1], dtype=np.float32)
            products = sparse_products(parts_of(queries), parts_of(self.rows), near, spread)
        else:
            products = dense_products(queries, self.rows, near)
        if self.distance == "cosine":
            return np.asarray(1 - products)
        own = squared_lengths(queries)[:, np.newaxis]
        return np.asarray(np.sqrt(np.maximum(own - 2 * products + self.squares[near], 0)))


def parts_of(rows: Rows) -> tuple[NDArray[Any], ...]:
    """Return the arrays of a CSR matrix in the order that the kernels expect: data, column numbers, offsets."""
    return rows.data, rows.indices, rows.indptr


def weigh(search: Search, queries: Rows, near: Ids, keys: Matrix, settings: NeighbourSettings) -> Numbers:
    """Return the weights of neighbours, (m, k).

    `near` and `keys` are the result of `Search.nearest` for the queries.
    """
    cosines = keys.astype(np.float64)
    match settings.weights:
        case "cosine":
            return np.asarray(np.maximum(cosines, 0) ** settings.power)
        case "exponential":
            largest = cosines.max(axis=1, keepdims=True, initial=-np.inf)
            return np.asarray(np.exp(settings.sharpness * (cosines - largest)))
        case "inverse_distance":
            return np.asarray(1 / np.maximum(search.distances(queries, near), SMALLEST_DISTANCE))
        case _:
            return np.ones_like(cosines)


def found_by_chance(queries: Rows, n: int, settings: NeighbourSettings) -> NDArray[np.bool_]:
    """Draw which of the n nearest rows of each query are found and count as neighbours.

    The result is a mask with shape (m, n). Its first column is for the nearest row. The random numbers depend on the
    query's features alone, so a model ranks an image in the same way each time.
    """
    found = np.empty((queries.shape[0], n), dtype=np.bool_)
    for row in range(len(found)):
        numbers = queries[[row]].data if sparse.issparse(queries) else queries[row]
        found[row] = np.random.default_rng(crc32(numbers.tobytes())).random(n) < settings.found
    if settings.only_first:
        found[:, 1:] = True
    if settings.neighbours is not None:
        found &= np.cumsum(found, axis=1) <= settings.neighbours
    return found


def vote(near: Ids, weights: Numbers, labels: LabelMatrix, second_key: Matrix) -> Matrix:
    """Return the scores of all labels for each query.

    A label's score is the sum of the weights of the neighbours with this label, plus the label's second key. The result
    has shape (m, n_labels) and is float32.

    `near`, (m, k), contains the neighbours' row numbers in `labels`, and `weights`, (m, k), contains the neighbours'
    weights. `second_key` has shape (n_labels,).
    """
    without_votes = second_key.astype(np.float64)
    sums = np.tile(without_votes, (len(near), 1))
    add_votes(sums, near, weights, labels.offsets, labels.label_of_pair)
    scores = np.empty(sums.shape, dtype=np.float32)
    round_in_order(sums, without_votes, scores)
    return scores


def second_key_of(labels: LabelMatrix, settings: NeighbourSettings) -> Matrix:
    """Return the key that orders labels with equal sums of weights.

    The key is a small multiple of each label's frequency in `labels`. It has shape (n_labels,) and is float32.
    """
    frequency = np.bincount(labels.label_of_pair, minlength=labels.n_labels)
    shares = frequency / max(frequency.max(initial=0), 1)
    return np.asarray(SECOND_KEY[settings.weights] * shares, dtype=np.float32)


@dataclass(frozen=True)
class NeighbourModel(Model):
    """The base class of models that search for the nearest training images.

    Attributes
    ----------
    features : (n, d) float32, the training images' normalised features, dense or CSR; of unit length for the cosine
    labels : n rows, the labels of the training images
    second_key : (n_labels,) float32, from `second_key_of`
    settings : settings of the neighbourhood
    normalisation : the normalisation fitted to the training images
    """

    settings_type: ClassVar[type[NeighbourSettings]] = NeighbourSettings
    features: Rows
    labels: LabelMatrix
    second_key: Matrix
    settings: Any  # of the class `settings_type`
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_rows(self.features, "features", self.labels.n_rows)
        check_matrix(self.second_key, "second_key", (self.labels.n_labels,))

    @property
    def n_labels(self) -> int:
        return self.labels.n_labels

    def prepared(self, queries: Queries) -> Rows:
        """Return the normalised features of queries, (m, d), in the format that `Search` reads."""
        rows = self.normalisation.apply(features_of(queries, self.features.shape[1]))
        return prepare(rows, self.settings.distance)

    def scores_among(self, search: Search, rows: Rows, labels: LabelMatrix) -> Matrix:
        """Return the scores of all labels, computed from the nearest rows that a search finds.

        `rows` are the queries, as returned by `prepared`; `labels` are the labels of the search's rows. The result has
        shape (m, n_labels) and is float32.
        """
        skipped, neighbours = self.settings.skipped, self.settings.neighbours
        by_chance = self.settings.found < 1
        k = labels.n_rows if neighbours is None or by_chance else min(neighbours + skipped, labels.n_rows)
        near, keys = search.nearest(rows, k)
        if skipped or by_chance:
            # The numbers in a row of `near` ascend, so of images with equal keys, the first one counts as nearest.
            kept = np.argsort(-keys, axis=1, kind="stable")[:, skipped:]
            near, keys = np.take_along_axis(near, kept, axis=1), np.take_along_axis(keys, kept, axis=1)
        weights = weigh(search, rows, near, keys, self.settings)
        if by_chance:
            weights = weights * found_by_chance(rows, near.shape[1], self.settings)
        return vote(near, weights, labels, self.second_key)

    def largest_score(self) -> float:
        numbers = self.features.data if sparse.issparse(self.features) else self.features
        return float(np.abs(numbers).max(initial=0.0))  # sums of finite weights are finite

    def arrays(self) -> dict[str, NDArray[Any]]:
        own: dict[str, NDArray[Any]] = {
            **labels_to_arrays(self.labels),
            "second_key": self.second_key,
            "settings": np.array(self.settings.model_dump_json()),
        }
        return rows_to_arrays(self.features, "features") | own | self.normalisation.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        return cls(**cls.fields_of(arrays))

    @classmethod
    def fields_of(cls, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        """Return the values of the attributes, taken from the saved arrays.

        A subclass that has more attributes overrides this method to add their values.
        """
        n_labels = len(arrays["second_key"])
        return {
            "features": rows_from_arrays(arrays, "features"),
            "labels": labels_from_arrays(arrays, n_labels),
            "second_key": arrays["second_key"],
            "settings": cls.settings_type.model_validate_json(str(arrays["settings"])),
            "normalisation": Normalisation.from_arrays(arrays, cls.kind),
        }
