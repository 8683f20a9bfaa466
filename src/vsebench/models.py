"""Fitted models, which score labels for images.

A file model.npz contains the kind of the model (`kind`), the version of the format (`version`) and the model's arrays.
The arrays are checked when a model is built or loaded. The scores of `Embedded` models are inner products of vectors,
so fast kernels can rank the labels. Other models compute a matrix of scores.
"""

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.modules import modules_by_key
from vsebench.core.storage import read_arrays, write_arrays
from vsebench.data.problem import LabelMatrix, Matrix, Queries

if TYPE_CHECKING:  # the module `features` imports SciPy, which most models do not need
    from vsebench.data.features import Block, Rows

VERSION = 1
LARGEST_SCORE = 1e37


class Model(ABC):
    """A fitted model; `kind` names its class in the file model.npz."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def n_labels(self) -> int:
        """Number of labels that the model scores."""

    @abstractmethod
    def scores(self, queries: Queries) -> Matrix:
        """Return the scores of all labels for n images; a larger score is better.

        The result has shape (n, n_labels) and dtype float32. Raises a `UserError` if the model cannot score an image.
        For example, some models can score only the images of their data set.
        """

    @abstractmethod
    def largest_score(self) -> float:
        """Return a rough upper bound on the absolute values of the scores.

        The bound is NaN if the model contains NaN. The bounds of some models do not take the values of the image
        features into account.
        """

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save, by name."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Model":
        """Build a model from saved arrays; raise a `ValueError` that names the first array that is not valid."""

    def has_finite_scores(self) -> bool:
        """Return whether all scores should be finite according to `largest_score`."""
        return self.largest_score() < LARGEST_SCORE  # also False for NaN


class ModelOfFields(Model):
    """A model that is a dataclass of arrays, which are saved under the names of its fields.

    Such a model can also have two fields that are not arrays: `normalisation`, which is applied to image features, and
    `hidden`, a list of the hidden layers of a network.
    """

    def arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {}
        for name in (field.name for field in fields(cast(Any, self))):
            value = getattr(self, name)
            if name == "normalisation":
                arrays |= value.arrays()
            elif name == "hidden":
                arrays |= {f"hidden{number}": layer for number, layer in enumerate(value)}
            else:
                arrays[name] = value
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        values: dict[str, Any] = {}
        for name in (field.name for field in fields(cast(Any, cls))):
            if name == "normalisation":
                from vsebench.data.features import Normalisation  # imports SciPy, which most models do not need

                values[name] = Normalisation.from_arrays(arrays, cls.kind)
            elif name == "hidden":
                layers = (saved for saved in arrays if saved.startswith("hidden"))
                values[name] = [arrays[layer] for layer in sorted(layers, key=lambda layer: int(layer[6:]))]
            else:
                values[name] = arrays[name]
        return cls(**values)


def checked_scores(model: Model, queries: Queries) -> Matrix:
    """Return a model's scores of all labels for n images, after checks that the kernels do not make.

    The result has shape (n, n_labels) and dtype float32. Raises a `UserError` if the array of the model has another
    shape or type, is not contiguous, or contains a number that is not finite.
    """
    shape = len(queries.images), model.n_labels
    return _checked(model.scores(queries), shape, f"{type(model).__name__}.scores", queries)


def checked_vectors(model: "Embedded", queries: Queries) -> Matrix:
    """Return a model's vectors of n images, after the same checks as in `checked_scores`.

    The result has shape (n, K) and dtype float32, for vectors of K numbers.
    """
    shape = len(queries.images), model.label.shape[1]
    return _checked(model.vectors(queries), shape, f"{type(model).__name__}.vectors", queries)


def _checked(array: Matrix, shape: tuple[int, int], name: str, queries: Queries) -> Matrix:
    if not isinstance(array, np.ndarray):
        raise UserError(f"{name} is of type {type(array).__name__}, not an array")
    try:
        check_matrix(array, name, shape)
    except ValueError as error:
        raise UserError(str(error)) from None
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        image = "a new image" if queries.images[row] < 0 else f"image {queries.images[row]}"
        raise UserError(f"{name}: not finite for {image}; the image's features or the model's weights may be too large")
    return array


class Embedded(Model):
    """A model in which each score is the inner product of an image's vector and a label's vector.

    All vectors have K numbers. If labels have biases, the last number of each label's vector is the label's bias, and
    the last number of each image's vector is 1.
    """

    label: Matrix  # (n_labels, K)
    biased: ClassVar[bool] = False  # whether the last factor is the label's bias

    @property
    def n_labels(self) -> int:
        return len(self.label)

    @abstractmethod
    def vectors(self, queries: Queries) -> Matrix:
        """Return the vectors of n images, as a C-contiguous float32 array of shape (n, K)."""

    @cached_property
    def _columns(self) -> tuple[Matrix, NDArray[np.int64] | None]:
        """Return a matrix whose columns are the distinct vectors of labels, and the index of each label's column.

        Instead of the indices, None is returned if all vectors differ. In a product of matrices, the last bits of a
        number can depend on its column. Labels with equal vectors could therefore get different scores if each had a
        column of its own.
        """
        numbers: dict[bytes, int] = {}
        column_of_label = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in self.label + 0.0])
        if len(numbers) == len(self.label):
            return np.ascontiguousarray(self.label.T), None
        first = np.unique(column_of_label, return_index=True)[1]
        return np.ascontiguousarray(self.label[first].T), column_of_label

    def scores(self, queries: Queries) -> Matrix:
        columns, column_of_label = self._columns
        product: Matrix = self.vectors(queries) @ columns
        return product if column_of_label is None else np.take(product, column_of_label, axis=1)


class Thresholded(Model):
    """A model that also predicts a threshold for each image and label."""

    @abstractmethod
    def thresholds(self, queries: Queries) -> Matrix:
        """Return the thresholds for n images, as a float32 array of shape (n, n_labels).

        A label is chosen for an image if its score is above its threshold for this image.
        """


@dataclass(frozen=True)
class Embeddings(ModelOfFields, Embedded):
    """A model that consists of a vector for each image of the data set and a vector for each label.

    Attributes
    ----------
    image : (n_images, K) float32
    label : (n_labels, K) float32
    """

    kind: ClassVar[str] = "embeddings"
    image: Matrix
    label: Matrix

    def __post_init__(self) -> None:
        check_matrix(self.label, "label", (None, None))
        check_matrix(self.image, "image", (None, self.label.shape[1]))

    def vectors(self, queries: Queries) -> Matrix:
        check_images(queries, len(self.image))
        return self.image[queries.images]

    def largest_score(self) -> float:
        return norm(self.image) * norm(self.label)  # by the Cauchy-Schwarz inequality


@dataclass(frozen=True)
class LabelWeights(ModelOfFields):
    """A model in which a label's score is the sum of the weights that the image's known labels give to the label.

    Attributes
    ----------
    weight : (n_labels, n_labels) float32, one row per known label and one column per scored label
    """

    kind: ClassVar[str] = "label_weights"
    weight: Matrix

    def __post_init__(self) -> None:
        check_matrix(self.weight, "weight", (len(self.weight), len(self.weight)))

    @property
    def n_labels(self) -> int:
        return len(self.weight)

    def scores(self, queries: Queries) -> Matrix:
        # Images have few labels, so adding up the labels' rows is far less work than a product with a dense matrix.
        known = queries.known
        scores = np.zeros((known.n_rows, len(self.weight)), dtype=np.float32)
        for row, (first, last) in enumerate(zip(known.offsets[:-1], known.offsets[1:], strict=True)):
            np.sum(self.weight[known.label_of_pair[first:last]], axis=0, out=scores[row])
        return scores

    def largest_score(self) -> float:
        return norm(self.weight) * math.sqrt(len(self.weight))


def by_frequency(labels: LabelMatrix) -> Embeddings:
    """Return a model in which a label has the same score for every image: its number of occurrences in `labels`."""
    occurrences = np.bincount(labels.label_of_pair, weights=labels.count_of_pair, minlength=labels.n_labels)
    ones = np.ones((labels.n_rows, 1), dtype=np.float32)
    return Embeddings(ones, occurrences.astype(np.float32)[:, np.newaxis])


SHARED: tuple[type[Model], ...] = (Embeddings, LabelWeights)


def save(model: Model, path: Path) -> None:
    """Write a model to a file such as model.npz, which `load` reads."""
    write_arrays(path, kind=np.array(model.kind), version=np.array(VERSION), **model.arrays())


def load(path: Path | str) -> Model:
    """Read a model from a file that `save` wrote.

    Raises a `UserError` if the file contains no model, has another version of the format, or contains arrays that do
    not fit together.
    """
    arrays = read_arrays(Path(path))
    try:
        kind, version = str(arrays.pop("kind")), int(arrays.pop("version"))
        if version != VERSION:
            raise ValueError(f"its format has version {version}, but this release reads version {VERSION}")
        return model_class(kind).from_arrays(arrays)
    except (KeyError, ValueError, TypeError, UserError) as error:
        raise UserError(f"{path}: not a readable model ({error}); delete it and run again") from None


def model_class(kind: str) -> type[Model]:
    """Return the class of the models of this kind.

    The class is defined in this module, or it is in `MODELS` of a module of `vsebench.methods`. Raises a `ValueError`
    if there is no such class.
    """
    for shared in SHARED:
        if shared.kind == kind:
            return shared
    try:
        model: type[Model] = importlib.import_module(modules_by_key("MODELS", "methods")[kind]).MODELS[kind]
    except (KeyError, ImportError):
        raise ValueError(f"unknown kind of model {kind!r}") from None
    return model


def check_matrix(array: NDArray[Any], name: str, shape: tuple[int | None, ...]) -> None:
    """Raise a `ValueError` unless an array is C-contiguous and float32, and has the given shape.

    None in `shape` stands for any size. The message of the error contains `name`, the name of the array.
    """
    fits = array.ndim == len(shape) and all(e in (None, size) for size, e in zip(array.shape, shape, strict=True))
    if not fits or array.dtype != np.float32 or not array.flags.c_contiguous:
        expected_shape = " x ".join("any" if size is None else str(size) for size in shape)
        actual = f"{array.dtype} of shape {' x '.join(map(str, array.shape))}"
        actual += "" if array.flags.c_contiguous else ", not contiguous"
        raise ValueError(f"{name} is {actual}; it should be contiguous float32 of shape {expected_shape}")


def check_images(queries: Queries, n_images: int) -> None:
    """Raise a `UserError` unless all images are among the `n_images` images of the model."""
    if len(queries.images) and not 0 <= queries.images.min() <= queries.images.max() < n_images:
        raise UserError("this model knows only the images of its data set; it cannot score new images")


def features_of(queries: Queries, dimensions: int) -> "Rows":
    """Return the features of images; raise a `UserError` unless each image has `dimensions` features."""
    if queries.features is None:
        raise UserError("this model scores images by their features, but these images have none")
    found = queries.features.shape[1]
    if found != dimensions:
        raise UserError(f"this model was fitted to {dimensions} features per image, but these images have {found}")
    return queries.features


def named_sets(model: Model) -> "tuple[Block, ...]":
    """Return the name and the columns of each set of features that a model uses.

    The result is empty if the sets have no names, or if the model has no normalisation of features.
    """
    normalisation = getattr(model, "normalisation", None)
    return () if normalisation is None else cast("tuple[Block, ...]", normalisation.named)


def norm(matrix: Matrix) -> float:
    """Return a matrix's Frobenius norm; it is not finite if an entry is not finite or the sum of squares overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sqrt(np.vdot(matrix, matrix)))
