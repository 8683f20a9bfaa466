"""Nearest images: a label's score is the sum of the weights of the nearest training images that carry it.

A second key, a small number times the label's training frequency over the largest one, orders labels with the same sum.
The search is exact; of training images at the same distance the first ones are taken.

Source: Makadia, Pavlovic and Kumar, "A new baseline for image annotation", ECCV 2008, with the distances and weights of
the settings below.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.features import Normalisation, Rows, Step
from vsebench.methods.base import Control, Settings
from vsebench.models import Model, check_matrix, features_of
from vsebench.problem import LabelMatrix, Matrix, Problem, Queries

# The largest value of the second key. Equal weights add up to whole numbers: there a large key orders ties alone, and
# one of 1e-6 would be lost in float32.
SECOND_KEY = {"equal": 0.5, "cosine": 1e-6, "inverse_distance": 1e-6}


class NearestImagesSettings(Settings):
    """Settings of the neighbourhood."""

    neighbours: int = Field(ge=1)  # all images if there are fewer
    distance: Literal["cosine", "euclidean"] = "cosine"
    weights: Literal["equal", "cosine", "inverse_distance"] = "equal"  # cosine: only with the distance cosine
    # Steps that the features go through, in this order; none: those of the data set's file.
    normalise: tuple[Step, ...] | None = Field(default=None, strict=False)

    @model_validator(mode="after")
    def _fitting(self) -> "NearestImagesSettings":
        if self.weights == "cosine" and self.distance != "cosine":
            raise PydanticCustomError("weights", "weights: 'cosine' goes with the distance 'cosine' only")
        return self


@dataclass(frozen=True)
class NearestImages(Model):
    """A fitted model: the training images with their labels.

    Attributes
    ----------
    features : (n, d) float32, normalised; of unit length where the distance is the cosine
    labels : n rows
    second_key : (n_labels,) float32
    settings : of the neighbourhood
    normalisation : as fitted to the training images
    """

    kind: ClassVar[str] = "nearest_images"
    features: Matrix
    labels: LabelMatrix
    second_key: Matrix
    settings: NearestImagesSettings
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_matrix(self.features, "features", (self.labels.n_rows, None))
        check_matrix(self.second_key, "second_key", (self.labels.n_labels,))

    @property
    def n_labels(self) -> int:
        return self.labels.n_labels

    def scores(self, queries: Queries) -> Matrix:
        rows = prepare(self.normalisation.apply(features_of(queries, self.features.shape[1])), self.settings)
        nearest, weights = self._neighbours(rows)
        scores = np.tile(self.second_key.astype(np.float64), (len(rows), 1))
        for row in range(len(rows)):
            near = self.labels.rows(nearest[row])
            np.add.at(scores[row], near.label_of_pair, np.repeat(weights[row], near.n_labels_of_row))
        return scores.astype(np.float32)

    @cached_property
    def _columns(self) -> NDArray[np.float64]:
        """(d, n) float64: the training images as the product needs them."""
        return np.ascontiguousarray(self.features.T, dtype=np.float64)

    def _distances(self, rows: Matrix) -> NDArray[np.float64]:
        """Return the distances of rows to the training images, (m, n)."""
        products = rows.astype(np.float64) @ self._columns
        if self.settings.distance == "cosine":
            return np.asarray(1 - products)
        own = np.einsum("nd,nd->n", rows, rows, dtype=np.float64)
        squares = np.einsum("dn,dn->n", self._columns, self._columns)
        return np.asarray(np.sqrt(np.maximum(own[:, np.newaxis] - 2 * products + squares, 0)))

    def _neighbours(self, rows: Matrix) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the nearest training images of each row, (m, k), and their weights."""
        distances = self._distances(rows)
        k = min(self.settings.neighbours, self.labels.n_rows)
        farthest = np.partition(distances, k - 1, axis=1)[:, k - 1]
        nearest = np.empty((len(rows), k), dtype=np.int64)
        for row, (own, limit) in enumerate(zip(distances, farthest, strict=True)):
            near = np.flatnonzero(own <= limit)  # with those at the same distance as the last one, in their order
            nearest[row] = near[np.argsort(own[near], kind="stable")[:k]]
        distance = np.take_along_axis(distances, nearest, axis=1)
        match self.settings.weights:
            case "cosine":
                weights = np.maximum(1 - distance, 0)
            case "inverse_distance":
                weights = 1 / np.maximum(distance, 1e-12)
            case _:
                weights = np.ones_like(distance)
        return nearest, weights

    def largest_score(self) -> float:
        return float(np.abs(self.features).max(initial=0.0))  # sums of finite weights are finite

    def arrays(self) -> dict[str, NDArray[Any]]:
        own: dict[str, NDArray[Any]] = {
            "features": self.features,
            "offsets": self.labels.offsets,
            "label_of_pair": self.labels.label_of_pair,
            "count_of_pair": self.labels.count_of_pair,
            "second_key": self.second_key,
            "settings": np.array(self.settings.model_dump_json()),
        }
        return own | self.normalisation.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "NearestImages":
        labels = LabelMatrix(
            len(arrays["second_key"]), arrays["offsets"], arrays["label_of_pair"], arrays["count_of_pair"]
        )
        settings = NearestImagesSettings.model_validate_json(str(arrays["settings"]))
        normalisation = Normalisation.from_arrays(arrays, cls.kind)
        return cls(arrays["features"], labels, arrays["second_key"], settings, normalisation)


class NearestImagesMethod(Control):
    """Nearest images; images without features are left out."""

    settings_type = NearestImagesSettings
    needs = frozenset({"features"})

    def __init__(self, problem: Problem, settings: NearestImagesSettings) -> None:
        self.problem, self.settings = problem, settings

    def model(self) -> NearestImages:
        features, training = self.problem.features, self.problem.training
        assert features is not None
        images = training.images[features.known[training.images]]
        normalisation = Normalisation.fit(self.settings.normalise or (), features, images)
        rows = prepare(normalisation.apply(features.rows(images)), self.settings)
        labels = training.labels.rows(images)
        frequency = np.bincount(labels.label_of_pair, minlength=labels.n_labels)
        key = (SECOND_KEY[self.settings.weights] * frequency / max(frequency.max(initial=0), 1)).astype(np.float32)
        return NearestImages(rows, labels, key, self.settings, normalisation)


def prepare(rows: Rows, settings: NearestImagesSettings) -> Matrix:
    """Return normalised rows as a dense C-contiguous array, of unit length where the distance is the cosine."""
    found = np.ascontiguousarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float32)
    if settings.distance == "cosine":
        lengths = np.sqrt(np.einsum("nd,nd->n", found, found, dtype=np.float64))
        found = (found / np.where(lengths > 0, lengths, 1)[:, np.newaxis]).astype(np.float32)
    return found


MODEL = NearestImages
METHOD = NearestImagesMethod
