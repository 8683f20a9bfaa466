"""The data that a method is fitted to and tested on: label matrices, splits and queries.

Images and labels are numbered from 0, in the order of the rows and columns of the data set's label matrix. The classes
check their arrays when an object is created.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.schemas import PAIRS
from vsebench.core.workers import Workers
from vsebench.data.chunks import even_chunks

if TYPE_CHECKING:  # features need SciPy, which most fits do not use
    from vsebench.data.features import Block, Features, Rows

Ids = NDArray[np.int32]
Mask = NDArray[np.bool_]
Matrix = NDArray[np.float32]
ROUNDING = 1e-6  # shorter differences between unit vectors are rounding errors of float32
WordScale = Literal["raw", "unit", "centred"]
LARGEST_PLACE = np.iinfo(np.int32).max  # images, labels, and the places of pairs in arrays have numbers of type int32
PADDING = 16  # largest number of unused places after the pairs of a label in `kernels.full_sample.Columns`
ROWS_AT_ONCE = 1 << 18  # number of rows that are compared or added at a time, to save memory


@dataclass(frozen=True)
class LabelMatrix:
    """A sparse matrix that states how often each image has each label.

    It has one row per image and one column per label, and is stored by rows. A pair is an image and one of its labels.
    The labels of a row are in ascending order.

    Attributes
    ----------
    n_labels : number of labels in the vocabulary
    offsets : (n_rows + 1,) int64, index of the first pair of each row; the last number is n_pairs
    label_of_pair : (n_pairs,) int32, the label of each pair
    count_of_pair : (n_pairs,) int32, how often the image has the label; at least 1
    """

    n_labels: int
    offsets: NDArray[np.int64]
    label_of_pair: Ids
    count_of_pair: Ids

    def __post_init__(self) -> None:
        _check(self.offsets, "offsets", np.int64, (max(1, len(self.offsets)),))
        _check(self.label_of_pair, "label_of_pair", np.int32, (self.offsets[-1],))
        _check(self.count_of_pair, "count_of_pair", np.int32, (self.offsets[-1],))
        if self.offsets[0] != 0 or (np.diff(self.offsets) < 0).any():
            raise ValueError("offsets: must start at 0 and never decrease")
        check_places(self.n_rows, self.n_labels, int(self.count_of_pair.sum(dtype=np.int64)))
        if len(self.label_of_pair) and not 0 <= self.label_of_pair.min() <= self.label_of_pair.max() < self.n_labels:
            raise ValueError(f"label_of_pair: the labels' numbers must be from 0 to {self.n_labels - 1}")
        step = np.diff(self.label_of_pair)
        step[self.offsets[1:-1][(self.offsets[1:-1] > 0) & (self.offsets[1:-1] < self.n_pairs)] - 1] = 1
        if (step <= 0).any() or (self.count_of_pair < 1).any():
            raise ValueError("label_of_pair: labels of a row must be in ascending order, and counts must be at least 1")

    @classmethod
    def from_pairs(cls, pairs: pl.DataFrame, n_rows: int, n_labels: int) -> "LabelMatrix":
        """Build the matrix from a table with one line for each pair and the columns image, label and count."""
        if not _ascend(pairs["image"].to_numpy(), pairs["label"].to_numpy()):
            pairs = pairs.sort("image", "label")
        offsets = np.zeros(n_rows + 1, dtype=np.int64)
        np.cumsum(np.bincount(pairs["image"].to_numpy(), minlength=n_rows), out=offsets[1:])
        return cls(
            n_labels,
            offsets,
            np.array(pairs["label"].to_numpy(), dtype=np.int32),  # a copy, since numba recompiles for read-only arrays
            np.array(pairs["count"].to_numpy(), dtype=np.int32),
        )

    def with_counts(self, counts: NDArray[np.int32]) -> "LabelMatrix":
        """Return the matrix with the given counts in place of the old ones.

        `counts` contains the new count of each pair, (n_pairs,) int32. Pairs with the count 0 are removed.
        """
        kept = counts > 0
        offsets = np.zeros(self.n_pairs + 1, dtype=np.int64)
        np.cumsum(kept, out=offsets[1:])
        return LabelMatrix(self.n_labels, offsets[self.offsets], self.label_of_pair[kept], counts[kept])

    @classmethod
    def empty(cls, n_rows: int, n_labels: int) -> "LabelMatrix":
        """Return a matrix without pairs."""
        no_pairs = np.empty(0, dtype=np.int32)
        return cls(n_labels, np.zeros(n_rows + 1, dtype=np.int64), no_pairs, no_pairs)

    @property
    def n_rows(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_pairs(self) -> int:
        return len(self.label_of_pair)

    @property
    def n_labels_of_row(self) -> NDArray[np.int64]:
        """(n_rows,) int64: the number of distinct labels in each row."""
        return np.diff(self.offsets)

    @cached_property
    def image_of_pair(self) -> Ids:
        """(n_pairs,) int32: the row of each pair."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int32), np.diff(self.offsets))

    def to_pairs(self) -> pl.DataFrame:
        """Return a table with one line for each pair and the Int32 columns image, label and count."""
        columns = {"image": self.image_of_pair, "label": self.label_of_pair, "count": self.count_of_pair}
        return pl.DataFrame(columns, schema=PAIRS)

    def mask(self) -> Mask:
        """Return an (n_rows, n_labels) bool array that is true where a row has a label."""
        mask = np.zeros((self.n_rows, self.n_labels), dtype=np.bool_)
        mask[self.image_of_pair, self.label_of_pair] = True
        return mask

    def rows(self, images: Ids) -> "LabelMatrix":
        """Return the matrix of some rows; `images` are (n,) row numbers, in any order."""
        sizes = np.diff(self.offsets)[images]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        pairs = np.repeat(self.offsets[images] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return LabelMatrix(self.n_labels, offsets, self.label_of_pair[pairs], self.count_of_pair[pairs])

    def slice(self, start: int, stop: int) -> "LabelMatrix":
        """Return the rows from `start` to `stop` - 1."""
        first, last = self.offsets[start], self.offsets[stop]
        offsets = self.offsets[start : stop + 1] - first
        return LabelMatrix(self.n_labels, offsets, self.label_of_pair[first:last], self.count_of_pair[first:last])

    def columns(self, labels: Mask) -> "LabelMatrix":
        """Return the matrix with only the columns at which `labels` is true.

        `labels` is an (n_labels,) bool mask. The remaining labels are renumbered from 0, in their old order.
        """
        kept = labels[self.label_of_pair]
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        numbers = np.cumsum(labels, dtype=np.int32) - np.int32(1)
        pairs = (numbers[self.label_of_pair[kept]], self.count_of_pair[kept])
        return LabelMatrix(int(labels.sum()), offsets.astype(np.int64), *pairs)

    def __add__(self, other: "LabelMatrix") -> "LabelMatrix":
        """Return the sum of two matrices of the same shape."""
        sums = [first._sum(second) for first, second in self.beside(other)]
        sizes = [part.n_labels_of_row for part in sums]
        return LabelMatrix(
            self.n_labels,
            np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, dtype=np.int64), *sizes]))]),
            np.concatenate([np.zeros(0, dtype=np.int32), *(part.label_of_pair for part in sums)]),
            np.concatenate([np.zeros(0, dtype=np.int32), *(part.count_of_pair for part in sums)]),
        )

    def _sum(self, other: "LabelMatrix") -> "LabelMatrix":
        both = pl.concat([self.to_pairs(), other.to_pairs()]).group_by("image", "label").agg(pl.col("count").sum())
        return LabelMatrix.from_pairs(both, self.n_rows, self.n_labels)

    def beside(self, other: "LabelMatrix") -> Iterator[tuple["LabelMatrix", "LabelMatrix"]]:
        """Yield each block of rows of this matrix, together with the same rows of the other matrix."""
        for rows in even_chunks(self.n_rows, ROWS_AT_ONCE):
            yield self.slice(*rows), other.slice(*rows)


@dataclass(frozen=True)
class Dataset:
    """The information that a protocol needs to split a data set.

    Attributes
    ----------
    labels : the label matrix, one row per image
    parts : (n_images,) official part of each image ("train", "valid", "test", or "" if it is in no part); None if the
        data set has no official partition
    with_features : (n_images,) bool, whether each image has features; None if the data set has no features
    with_word_vectors : (n_labels,) bool, whether each label has a word vector; None if no word vectors are configured
    trained : (n_labels,) bool, the labels of the data set to train on; None unless two data sets are joined
    tested : (n_labels,) bool, the labels of the data set to test on; None unless two data sets are joined
    unseen : (n_labels,) bool, the labels not to train on, each of which has a word vector; None if the protocol has to
        draw these labels
    """

    labels: LabelMatrix
    parts: NDArray[np.str_] | None = None
    with_features: Mask | None = None
    with_word_vectors: Mask | None = None
    trained: Mask | None = None
    tested: Mask | None = None
    unseen: Mask | None = None


@dataclass(frozen=True)
class Training:
    """The images and labels to learn from.

    Attributes
    ----------
    labels : one row per image of the data set, with an empty row for each image that is not in `images`
    images : (n,) int32, the images to learn from, in ascending order; images without a label are included
    learnt : (n_labels,) bool, the labels to learn
    """

    labels: LabelMatrix
    images: Ids
    learnt: Mask

    def __post_init__(self) -> None:
        _check_images(self.images, self.labels.n_rows)
        _check(self.learnt, "learnt", np.bool_, (self.labels.n_labels,))

    @classmethod
    def all_of(cls, labels: LabelMatrix) -> "Training":
        """Return training data that contain all images and all labels of a matrix."""
        return cls(labels, np.arange(labels.n_rows, dtype=np.int32), np.ones(labels.n_labels, dtype=np.bool_))


@dataclass(frozen=True)
class HeldOut:
    """The images and labels on which a model is validated or tested.

    Attributes
    ----------
    images : (q,) int32, strictly ascending
    right : q rows, the held-out labels; images with an empty row are left out of the means of ranking metrics
    known : q rows, for each image the labels that the model may know; these are not candidates for this image
    candidates : (n_labels,) bool, the labels to rank
    """

    images: Ids
    right: LabelMatrix
    known: LabelMatrix
    candidates: Mask

    def __post_init__(self) -> None:
        if not len(self.images) == self.right.n_rows == self.known.n_rows:
            raise ValueError("held-out labels: images, right and known should have the same number of rows")
        if self.right.n_labels != self.known.n_labels:
            raise ValueError("held-out labels: right and known should have the same number of labels")
        _check_images(self.images, int(self.images[-1]) + 1 if len(self.images) else 0)
        _check(self.candidates, "candidates", np.bool_, (self.right.n_labels,))

    @property
    def is_cold(self) -> Mask:
        """(q,) bool: the images without a known label.

        If no image has a known label, as in tests on new images, all values are False.
        """
        if self.known.n_pairs == 0:
            return np.zeros(len(self.images), dtype=np.bool_)
        return np.equal(self.known.n_labels_of_row, 0)

    def sample(self, size: int, rng: np.random.Generator) -> "HeldOut":
        """Return at most `size` of the images, drawn without replacement, in their old order."""
        if len(self.images) <= size:
            return self
        return self.take(np.sort(rng.choice(len(self.images), size, replace=False)).astype(np.int32))

    def take(self, rows: Ids) -> "HeldOut":
        """Return some of the images; `rows` are (n,) strictly ascending indices into `images`."""
        return HeldOut(self.images[rows], self.right.rows(rows), self.known.rows(rows), self.candidates)


@dataclass(frozen=True)
class Split:
    """The training, validation and test data that a protocol makes from a data set.

    Models are fitted to `first` and validated on `valid`. The model that is tested on `test` is fitted to `final`,
    which contains the labels of `first` and `valid`. Under the protocol `unseen_labels` and its variants, some labels
    are validation labels. They are removed from all images of `first`, but not from the images of `final`.
    """

    first: Training
    valid: HeldOut
    final: Training
    test: HeldOut


@dataclass(frozen=True)
class Queries:
    """Images to score.

    Attributes
    ----------
    images : (n,) int32, image numbers in the data set; -1 for an image outside the data set
    known : n rows, the known labels of each image
    features : (n, d) float32 raw features, dense or CSR; None if the data set has no features
    """

    images: Ids
    known: LabelMatrix
    features: "Rows | None" = None

    @classmethod
    def of_new_images(cls, features: "Rows", n_labels: int) -> "Queries":
        """Return queries for images outside the data set.

        `features` contains the raw features of these images, (n, d) float32, dense or CSR.
        """
        n_images = features.shape[0]
        return cls(np.full(n_images, -1, dtype=np.int32), LabelMatrix.empty(n_images, n_labels), features)


@dataclass(frozen=True)
class WordVectors:
    """The word vectors of a data set's labels.

    Attributes
    ----------
    vectors : (n_labels, d) float32, finite and not scaled; zeros for a label without a vector
    known : (n_labels,) bool, the labels that have a (non-zero) vector
    """

    vectors: Matrix
    known: Mask

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or self.vectors.shape[1] == 0:
            raise ValueError(f"word_vectors: shape {self.vectors.shape}; give one row per label")
        _check(self.vectors, "word_vectors: vectors", np.float32, self.vectors.shape)
        _check(self.known, "word_vectors: known", np.bool_, (len(self.vectors),))
        if not np.isfinite(self.vectors).all():
            raise ValueError("word_vectors: a number is not finite")
        if (self.vectors.any(axis=1) != self.known).any():
            raise ValueError("word_vectors: `known` must be true exactly for the labels with a non-zero vector")

    @property
    def dimensions(self) -> int:
        return int(self.vectors.shape[1])

    def scaled(self, scale: WordScale) -> Matrix:
        """Return the scaled vectors, (n_labels, d) float32.

        Labels without a vector have zeros in the result. `scale` is one of:

        - `raw`: the vectors are not changed.
        - `unit`: each vector is scaled to length 1.
        - `centred`: each vector is scaled to length 1. The mean of these vectors is subtracted from each of them, and
          the differences are scaled to length 1. A difference of zero stays zero. Labels without a vector are left out.
        """
        if scale == "raw":
            return self.vectors
        unit = _normalise_rows(self.vectors.astype(np.float64), smallest=0)
        if scale == "centred" and self.known.any():
            unit[self.known] = _normalise_rows(unit[self.known] - unit[self.known].mean(axis=0), smallest=ROUNDING)
        return unit.astype(np.float32)


def _normalise_rows(rows: NDArray[np.float64], smallest: float) -> NDArray[np.float64]:
    """Scale rows to length 1; rows of length `smallest` or less become zeros."""
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    is_zero = length <= smallest
    return np.where(is_zero, 0.0, rows / np.where(is_zero, 1.0, length))


@dataclass(frozen=True)
class Problem:
    """The data and resources that a method is fitted with.

    Only the problems of oracles contain information about the test labels.

    Attributes
    ----------
    training : the images and labels to learn from
    seed : seed of all random numbers, which come from `vsebench.data.streams`
    workers : the threads to use; results must not depend on the number of threads
    features : the image features, one row per image of the data set; None if the data set has no features
    word_vectors : the word vectors of the labels; None if the data set has none
    extras : the other inputs that the method needs: key of a need (see `needs.NEEDS`) -> input
    """

    training: Training
    seed: int
    workers: Workers
    features: "Features | None" = None
    word_vectors: WordVectors | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_images, n_labels = self.training.labels.n_rows, self.training.labels.n_labels
        if self.word_vectors is not None and len(self.word_vectors.known) != n_labels:
            raise ValueError(f"word_vectors: {len(self.word_vectors.known)} rows, but {n_labels} labels")
        if self.features is not None and self.features.n_images != n_images:
            raise ValueError(f"features: {self.features.n_images} rows, but {n_images} images")

    @property
    def feature_blocks(self) -> "tuple[Block, ...]":
        """The name and columns of each set of features; empty if the problem has no features.

        The columns of a set are the same in raw and in normalised rows.
        """
        return () if self.features is None else self.features.blocks


def ids_of(mask: Mask) -> Ids:
    """Return the indices at which a mask is true, ascending."""
    return np.flatnonzero(mask).astype(np.int32)


def mask_of(ids: Ids, size: int) -> Mask:
    """Return a mask of length `size` that is true at the indices `ids`."""
    mask = np.zeros(size, dtype=np.bool_)
    mask[ids] = True
    return mask


def check_places(n_images: int, n_labels: int, occurrences: int) -> None:
    """Raise a `UserError` if the number of an image, or the place of a pair in an array, would not fit into int32."""
    needed = max(n_images, occurrences + PADDING * (n_labels + 1))
    if needed > LARGEST_PLACE:
        sizes = f"{n_images:,} images, {n_labels:,} labels and {occurrences:,} occurrences of labels"
        raise UserError(
            f"{sizes} need {needed:,} places in an array, but at most {LARGEST_PLACE:,} are possible; keep fewer "
            "images or labels"
        )


def _ascend(images: NDArray[np.int32], labels: NDArray[np.int32]) -> bool:
    """Return whether (image, label) pairs are in ascending order, so that they need not be sorted."""
    steps = np.diff(images)
    return bool((steps >= 0).all() and ((steps > 0) | (np.diff(labels) > 0)).all())


def _check(array: NDArray[np.generic], name: str, dtype: type, shape: tuple[int, ...]) -> None:
    if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
        raise ValueError(f"{name}: is {array.dtype} {array.shape}, but must be contiguous {np.dtype(dtype)} {shape}")


def _check_images(images: Ids, n_images: int) -> None:
    _check(images, "images", np.int32, (len(images),))
    if len(images) and (images[0] < 0 or images[-1] >= n_images or (np.diff(images) <= 0).any()):
        raise ValueError(f"images: must strictly ascend and lie between 0 and {n_images - 1}")
