"""A model that consists of the scores of all labels for some images of a data set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.data.problem import Ids, Matrix, Queries
from vsebench.models import Model, check_images, check_matrix


@dataclass(frozen=True)
class ScoreMatrix(Model):
    """The scores of all labels for some images.

    Attributes
    ----------
    row_of_image : (n_images,) int32, the row of each image of the data set; -1 for an image without scores
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


def check_rows(row_of_image: Ids, n_rows: int) -> None:
    """Raise a `ValueError` unless all rows of images are among `n_rows`, or -1."""
    in_range = row_of_image.size == 0 or -1 <= row_of_image.min() <= row_of_image.max() < n_rows
    if row_of_image.ndim != 1 or row_of_image.dtype != np.int32 or not in_range:
        raise ValueError(f"row_of_image: should be int32 numbers from -1 to {n_rows - 1}")


def rows_of(queries: Queries, row_of_image: Ids) -> Ids:
    """Return the rows of images; raise a `UserError` if an image has none."""
    check_images(queries, len(row_of_image))
    rows = row_of_image[queries.images]
    if (rows < 0).any():
        raise UserError(
            f"the file of scores lacks {int((rows < 0).sum())} of {len(rows)} images; decisions need the scores of the"
            " validation images too, and learnt decisions those of the training images"
        )
    return rows


def largest(scores: NDArray[np.float32]) -> float:
    """Return the largest absolute score; NaN if there is a NaN."""
    return float(np.max(np.abs(scores), initial=0))


MODEL = ScoreMatrix
