"""The label matrix: which label is how often on which image."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

SCHEMA = {"image": pl.Int32, "label": pl.Int32, "count": pl.Int32}


@dataclass(frozen=True)
class LabelMatrix:
    """A sparse image x label matrix of counts, stored by rows; a row's labels ascend.

    Attributes
    ----------
    n_labels : number of labels in the vocabulary
    offsets : (n_images + 1,) int64, where each image's pairs start
    labels : (n_pairs,) int32
    counts : (n_pairs,) int32, at least 1
    """

    n_labels: int
    offsets: NDArray[np.int64]
    labels: NDArray[np.int32]
    counts: NDArray[np.int32]

    @classmethod
    def from_pairs(cls, pairs: pl.DataFrame, n_images: int, n_labels: int) -> "LabelMatrix":
        """Build the matrix from a table with the columns image, label and count, one row a pair."""
        pairs = pairs.sort("image", "label")
        offsets = np.zeros(n_images + 1, dtype=np.int64)
        np.cumsum(np.bincount(pairs["image"].to_numpy(), minlength=n_images), out=offsets[1:])
        return cls(
            n_labels,
            offsets,
            np.ascontiguousarray(pairs["label"].to_numpy(), dtype=np.int32),
            np.ascontiguousarray(pairs["count"].to_numpy(), dtype=np.int32),
        )

    @property
    def n_images(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_pairs(self) -> int:
        return len(self.labels)

    @cached_property
    def images(self) -> NDArray[np.int32]:
        """(n_pairs,) int32: the image of each pair."""
        return np.repeat(np.arange(self.n_images, dtype=np.int32), np.diff(self.offsets))

    def to_pairs(self) -> pl.DataFrame:
        """The table that `from_pairs` reads."""
        return pl.DataFrame({"image": self.images, "label": self.labels, "count": self.counts}, schema=SCHEMA)
