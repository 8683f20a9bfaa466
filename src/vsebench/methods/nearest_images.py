"""Nearest images: a label's score is the sum of the weights of the nearest training images that carry it.

A second key, a small number times the label's training frequency over the largest one, orders labels with the same sum.
The search is exact; of training images at the same distance the first ones are taken. Features stay dense or sparse: a
block of products and a partial selection, or inverted lists.

Source: Makadia, Pavlovic and Kumar, "A new baseline for image annotation", ECCV 2008, with the distances and weights of
`NeighbourSettings`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from vsebench.features import Normalisation, Rows
from vsebench.methods.base import Control
from vsebench.methods.neighbours import (
    NeighbourSettings,
    Search,
    check_rows,
    prepare,
    rows_from_arrays,
    rows_to_arrays,
    second_key_of,
    vote,
    weigh,
)
from vsebench.methods.seen import see
from vsebench.models import Model, check_matrix, features_of
from vsebench.problem import LabelMatrix, Matrix, Problem, Queries


@dataclass(frozen=True)
class NearestImages(Model):
    """A fitted model: the training images with their labels.

    Attributes
    ----------
    features : (n, d) float32, normalised, dense or CSR; of unit length where the distance is the cosine
    labels : n rows
    second_key : (n_labels,) float32
    settings : of the neighbourhood
    normalisation : as fitted to the training images
    """

    kind: ClassVar[str] = "nearest_images"
    features: Rows
    labels: LabelMatrix
    second_key: Matrix
    settings: NeighbourSettings
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_rows(self.features, "features", self.labels.n_rows)
        check_matrix(self.second_key, "second_key", (self.labels.n_labels,))

    @property
    def n_labels(self) -> int:
        return self.labels.n_labels

    @cached_property
    def _search(self) -> Search:
        return Search(self.features, self.settings.distance)

    def scores(self, queries: Queries) -> Matrix:
        rows = self.normalisation.apply(features_of(queries, self.features.shape[1]))
        rows = prepare(rows, self.settings.distance)
        n_images = self.labels.n_rows
        near, keys = self._search.nearest(rows, min(self.settings.neighbours or n_images, n_images))
        return vote(near, weigh(self._search, rows, near, keys, self.settings), self.labels, self.second_key)

    def largest_score(self) -> float:
        numbers = self.features.data if sparse.issparse(self.features) else self.features
        return float(np.abs(numbers).max(initial=0.0))  # sums of finite weights are finite

    def arrays(self) -> dict[str, NDArray[Any]]:
        own: dict[str, NDArray[Any]] = {
            "offsets": self.labels.offsets,
            "label_of_pair": self.labels.label_of_pair,
            "count_of_pair": self.labels.count_of_pair,
            "second_key": self.second_key,
            "settings": np.array(self.settings.model_dump_json()),
        }
        return rows_to_arrays(self.features, "features") | own | self.normalisation.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "NearestImages":
        labels = LabelMatrix(
            len(arrays["second_key"]), arrays["offsets"], arrays["label_of_pair"], arrays["count_of_pair"]
        )
        settings = NeighbourSettings.model_validate_json(str(arrays["settings"]))
        normalisation = Normalisation.from_arrays(arrays, cls.kind)
        return cls(rows_from_arrays(arrays, "features"), labels, arrays["second_key"], settings, normalisation)


class NearestImagesMethod(Control):
    """Nearest images; images without features are left out."""

    settings_type = NeighbourSettings
    needs = frozenset({"features"})

    def __init__(self, problem: Problem, settings: NeighbourSettings) -> None:
        self.problem, self.settings = problem, settings

    def model(self) -> NearestImages:
        seen = see(self.problem, self.settings)
        rows, key = prepare(seen.rows, self.settings.distance), second_key_of(seen.labels, self.settings)
        return NearestImages(rows, seen.labels, key, self.settings, seen.normalisation)


MODEL = NearestImages
METHOD = NearestImagesMethod
