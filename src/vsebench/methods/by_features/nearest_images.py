"""Nearest images: a label's score is the sum of the weights of the nearest training images with this label.

Labels with equal sums are ordered by a second key, which is a small multiple of their training frequency. The search is
exact. If several training images have the same distance, those that come first in the data set are taken. For dense
features, the search computes matrix products in blocks; for sparse features, it uses inverted lists.

Source: Makadia, Pavlovic and Kumar, "A new baseline for image annotation", ECCV 2008, extended by the distances and
weights in `NeighbourSettings`.
"""

from dataclasses import dataclass
from functools import cached_property

from vsebench.data.problem import Matrix, Queries
from vsebench.methods.by_features.neighbours import NeighbourModel, NeighbourSettings, Search, prepare, second_key_of
from vsebench.methods.by_features.seen import FeatureControl, see


@dataclass(frozen=True)
class NearestImages(NeighbourModel):
    """Scores labels by the nearest training images."""

    kind = "nearest_images"

    @cached_property
    def _search(self) -> Search:
        return Search(self.features, self.settings.distance)

    def scores(self, queries: Queries) -> Matrix:
        return self.scores_among(self._search, self.prepared(queries), self.labels)


class NearestImagesMethod(FeatureControl):
    """Nearest images, found among the training images that have features."""

    settings_type = NeighbourSettings

    def model(self) -> NearestImages:
        seen = see(self.problem, self.settings)
        rows, key = prepare(seen.rows, self.settings.distance), second_key_of(seen.labels, self.settings)
        return NearestImages(rows, seen.labels, key, self.settings, seen.normalisation)


MODELS = {"nearest_images": NearestImages}
METHODS = {"nearest_images": NearestImagesMethod}
