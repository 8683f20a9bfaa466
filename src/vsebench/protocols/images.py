"""Protocol `images`: a tenth of the images is held out for the test, and a tenth for validation."""

import numpy as np

from vsebench.problem import Dataset, Split
from vsebench.protocols.base import Protocol
from vsebench.protocols.whole_images import hold_out_images

SHARE = 0.1


class Images(Protocol):
    """The images are drawn uniformly."""

    words = "whole images held out, drawn at random"
    new_images = True
    validation_metric = "map"

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        n_images = dataset.labels.n_rows
        size = round(n_images * SHARE)
        place = np.empty(n_images, dtype=np.int64)
        place[np.argsort(rng.random(n_images), kind="stable")] = np.arange(n_images)
        return hold_out_images(dataset, place >= 2 * size, (place >= size) & (place < 2 * size), place < size)


PROTOCOL = Images
