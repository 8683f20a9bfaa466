"""A model that consists of vectors of some images of a data set and of its labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from vsebench.data.problem import Ids, Matrix, Queries
from vsebench.methods.outside.score_matrix import check_rows, rows_of
from vsebench.models import Embedded, check_matrix, norm


@dataclass(frozen=True)
class ScoreVectors(Embedded):
    """Vectors of some images and of all labels, whose inner products are the scores.

    Attributes
    ----------
    row_of_image : (n_images,) int32, the row of each image of the data set; -1 for an image without a vector
    image : (n_rows, K) float32
    label : (n_labels, K) float32
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
        return norm(self.image) * norm(self.label)  # Cauchy and Schwarz

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"row_of_image": self.row_of_image, "image": self.image, "label": self.label}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "ScoreVectors":
        return cls(arrays["row_of_image"], arrays["image"], arrays["label"])


MODEL = ScoreVectors
