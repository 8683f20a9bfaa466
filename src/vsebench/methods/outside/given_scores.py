"""Models that consist of scores that another program computed for some images of a data set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.data.problem import Ids, Matrix, Queries
from vsebench.models import Embedded, Model, check_images, check_matrix, norm


@dataclass(frozen=True)
class ScoreMatrix(Model):
    """The scores of all labels for some images.

    Attributes
    ----------
    row_of_image : (n_images,) int32: for each image of the data set, its row in `score`, or -1 if it has no scores
    score : (n_rows, n_labels) float32
    """

    kind: ClassVar[str] = "score_matrix"
    row_of_image: Ids
    score: Matrix

    def __post_init__(self) -> None:
        check_matrix(self.score, "score", (None, None))
        check_rows(self.row_of_image, len(self.score))

    @property
    def n_labels(self) -> int:
        return int(self.score.shape[1])

    def scores(self, queries: Queries) -> Matrix:
        return self.score[rows_of(queries, self.row_of_image)]

    def largest_score(self) -> float:
        return largest(self.score)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"row_of_image": self.row_of_image, "score": self.score}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "ScoreMatrix":
        return cls(arrays["row_of_image"], arrays["score"])


@dataclass(frozen=True)
class ScoreVectors(Embedded):
    """Vectors of some images and of all labels; their inner products are the scores.

    Attributes
    ----------
    row_of_image : (n_images,) int32: for each image of the data set, its row in `image`, or -1 if it has no vector
    image : (n_rows, K) float32, the vectors of images
    label : (n_labels, K) float32, the vectors of labels
    """

    kind: ClassVar[str] = "score_vectors"
    row_of_image: Ids
    image: Matrix
    label: Matrix

    def __post_init__(self) -> None:
        check_matrix(self.label, "label", (None, None))
        check_matrix(self.image, "image", (None, self.label.shape[1]))
        check_rows(self.row_of_image, len(self.image))

    def vectors(self, queries: Queries) -> Matrix:
        return self.image[rows_of(queries, self.row_of_image)]

    def largest_score(self) -> float:
        return norm(self.image) * norm(self.label)  # by the Cauchy-Schwarz inequality

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"row_of_image": self.row_of_image, "image": self.image, "label": self.label}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "ScoreVectors":
        return cls(arrays["row_of_image"], arrays["image"], arrays["label"])


@dataclass(frozen=True)
class ScoreLists(Model):
    """Lists of scored labels for some images; all other labels have the same score, below all listed scores.

    Attributes
    ----------
    size : number of labels of the data set
    row_of_image : (n_images,) int32: for each image of the data set, the number of its list, or -1 if it has no list
    offsets : (n_rows + 1,) int64: list number r is at offsets[r]:offsets[r + 1] in `label` and `score`
    label : (n_listed,) uint16 or int32, the listed labels; a list contains a label at most once
    score : (n_listed,) float32, the scores of the listed labels
    """

    kind: ClassVar[str] = "score_lists"
    size: int
    row_of_image: Ids
    offsets: NDArray[np.int64]
    label: NDArray[np.uint16] | Ids
    score: NDArray[np.float32]

    def __post_init__(self) -> None:
        check_rows(self.row_of_image, len(self.offsets) - 1)
        if self.label.size and not 0 <= self.label.min() <= self.label.max() < self.size:
            raise ValueError(f"label: the labels' numbers must be from 0 to {self.size - 1}")
        ends = self.offsets[0] == 0 and self.offsets[-1] == len(self.score) == len(self.label)
        if not ends or (np.diff(self.offsets) < 0).any():
            raise ValueError("offsets: must start at 0, never decrease, and end at the number of scores")

    @property
    def n_labels(self) -> int:
        return self.size

    @property
    def behind(self) -> float:
        """The score of labels that are not listed: less than all listed scores."""
        lowest = float(self.score.min(initial=0))
        return lowest - max(1.0, abs(lowest))

    def scores(self, queries: Queries) -> Matrix:
        rows = rows_of(queries, self.row_of_image)
        sizes = np.diff(self.offsets)[rows]
        listed = np.repeat(self.offsets[rows] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        scores = np.full((len(rows), self.size), self.behind, dtype=np.float32)
        scores[np.repeat(np.arange(len(rows)), sizes), self.label[listed]] = self.score[listed]
        return scores

    def largest_score(self) -> float:
        return max(largest(self.score), abs(self.behind))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return vars(self) | {"size": np.array(self.size)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "ScoreLists":
        size, row_of_image = int(arrays["size"]), arrays["row_of_image"]
        return cls(size, row_of_image, arrays["offsets"], arrays["label"], arrays["score"])


def check_rows(row_of_image: Ids, n_rows: int) -> None:
    """Raise a `ValueError` unless `row_of_image` contains int32 numbers from -1 to `n_rows` - 1."""
    in_range = row_of_image.size == 0 or -1 <= row_of_image.min() <= row_of_image.max() < n_rows
    if row_of_image.ndim != 1 or row_of_image.dtype != np.int32 or not in_range:
        raise ValueError(f"row_of_image: must be int32 numbers from -1 to {n_rows - 1}")


def rows_of(queries: Queries, row_of_image: Ids) -> Ids:
    """Return the rows of images; raise a `UserError` if an image has no row."""
    check_images(queries, len(row_of_image))
    rows = row_of_image[queries.images]
    if (rows < 0).any():
        raise UserError(
            f"the file of scores lacks {int((rows < 0).sum())} of {len(rows)} images; decisions need scores of the"
            " validation images too, and learnt decisions need those of the training images"
        )
    return rows


def largest(scores: NDArray[np.float32]) -> float:
    """Return the largest absolute score; NaN if one of the scores is NaN."""
    return float(np.maximum(scores.max(initial=0), -scores.min(initial=0)))


MODELS = {"score_matrix": ScoreMatrix, "score_vectors": ScoreVectors, "score_lists": ScoreLists}
