"""JEC, joint equal contribution: labels of the nearest training image rank first, then those of the next neighbours.

There is one base distance between images for each set of features. Each base distance is divided by its largest value
between two training images; at most 5,000 training images are compared to find this value. The distance between two
images is the mean of the divided base distances. The labels are ranked in three groups, in this order:

1. the labels of the nearest image, by training frequency;
2. the labels of the next neighbours, by n_c t_c. Here n_c is the number of these neighbours with label c. For each
   label a of the nearest image, the training images that have both a and c are counted; t_c is the sum of these counts.
   If the nearest image has no label, t_c is 1. Labels with equal n_c t_c are ordered by training frequency;
3. all other labels, by training frequency.

Source: Makadia, Pavlovic and Kumar, "A new baseline for image annotation", ECCV 2008, section 3. The paper uses base
distances for seven sets of features. Here, the module `base_distances` defines the base distances.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.data.problem import Matrix, Queries
from vsebench.kernels.cooccurrence import count_together
from vsebench.kernels.ranking.neighbours import add_votes, round_in_order
from vsebench.methods.base import Size
from vsebench.methods.by_features.base_distances import (
    DistanceModel,
    blocks_of,
    column_factors,
    largest_distances,
    multiplied,
    squared_distances,
    unit_rows,
)
from vsebench.methods.by_features.neighbours import Numbers
from vsebench.methods.by_features.seen import FeatureControl, FeatureSettings, see


class JecSettings(FeatureSettings):
    """Settings of JEC."""

    neighbours: int = Field(default=5, ge=1)  # number of nearest images, including the nearest one


@dataclass(frozen=True)
class JecModel(DistanceModel):
    """Ranks the labels of the nearest training image first, then those of the next neighbours."""

    kind: ClassVar[str] = "jec"
    settings_type = JecSettings

    @cached_property
    def _frequencies(self) -> Numbers:
        """(n_labels,): the training frequency of each label, scaled so that all are less than 1."""
        counts = np.bincount(self.labels.label_of_pair, minlength=self.n_labels)
        return np.asarray(counts / (counts.max(initial=0) + 1))

    @cached_property
    def _together(self) -> Numbers:
        """(n_labels, n_labels): for each pair of labels, the number of training images that have both."""
        return np.asarray(count_together(self.labels.offsets, self.labels.label_of_pair, self.n_labels))

    def scores(self, queries: Queries) -> Matrix:
        rows = self.prepared(queries)
        near, _ = self._search.nearest(rows, min(self.settings.neighbours, self.labels.n_rows))
        # The numbers in a row of `near` ascend, so at equal distances, the image with the lowest number is the nearest.
        order = np.argsort(squared_distances(self._search, rows, near), axis=1, kind="stable")
        near = np.take_along_axis(near, order, axis=1)
        first, votes = (np.zeros((len(near), self.n_labels)) for _ in range(2))
        for counts, images in ((first, near[:, :1]), (votes, near[:, 1:])):
            add_votes(counts, images, np.ones(images.shape), self.labels.offsets, self.labels.label_of_pair)
        votes[first > 0] = 0
        together = np.where(first.any(axis=1, keepdims=True), first @ self._together, 1)
        # Products are integers and frequencies are below 1, so frequencies order only labels with equal products.
        product = votes * together + self._frequencies
        product /= np.maximum(product.max(axis=1, keepdims=True), 1)
        scores = np.where(votes > 0, 1 + product, self._frequencies)
        sums = np.where(first > 0, 3 + self._frequencies, scores)
        rounded = np.empty(sums.shape, dtype=np.float32)
        round_in_order(sums, self._frequencies, rounded)
        return rounded


class Jec(FeatureControl):
    """JEC; images without features are left out of the fit."""

    settings_type = JecSettings

    @classmethod
    def least_memory(cls, size: Size, settings: JecSettings) -> int:
        return 8 * size.labels**2  # the co-occurrence counts by which the model ranks

    def model(self) -> JecModel:
        seen = see(self.problem, self.settings)
        blocks = blocks_of(seen.normalisation, seen.rows.shape[1])
        rows = unit_rows(seen.rows, blocks)
        factors = column_factors(blocks, 1 / (len(blocks) * largest_distances(rows, blocks)))
        return JecModel(multiplied(rows, factors), factors, seen.labels, self.settings, seen.normalisation)


MODELS = {"jec": JecModel}
METHODS = {"jec": Jec}
