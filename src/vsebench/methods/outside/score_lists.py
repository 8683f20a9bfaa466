"""A model that consists of lists of scored labels for some images of a data set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vsebench.data.problem import Ids, Matrix, Queries
from vsebench.methods.outside.score_matrix import check_rows, largest, rows_of
from vsebench.models import Model


@dataclass(frozen=True)
class ScoreLists(Model):
    """A list of scored labels per image; all other labels of the image are tied behind them.

    Attributes
    ----------
    size : number of labels of the data set
    row_of_image : (n_images,) int32, the row of each image of the data set; -1 for an image without a list
    offsets : (n_rows + 1,) int64, where the list of each row starts
    label : (n_listed,) int32, the listed labels, each once per row
    score : (n_listed,) float32
    """

    kind: ClassVar[str] = "score_lists"
    size: int
    row_of_image: Ids
    offsets: NDArray[np.int64]
    label: Ids
    score: NDArray[np.float32]

    def __post_init__(self) -> None:
        check_rows(self.row_of_image, len(self.offsets) - 1)
        if self.label.size and not 0 <= self.label.min() <= self.label.max() < self.size:
            raise ValueError(f"label: a label is outside the {self.size} of the data set")
        ends = self.offsets[0] == 0 and self.offsets[-1] == len(self.score) == len(self.label)
        if not ends or (np.diff(self.offsets) < 0).any():
            raise ValueError("offsets: should start at 0, never decrease, and end at the number of scores")

    @property
    def n_labels(self) -> int:
        return self.size

    @property
    def behind(self) -> float:
        """The score of labels that are not listed: less than all listed ones."""
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


MODEL = ScoreLists
