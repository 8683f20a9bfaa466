"""Protocol `images`: hold out a tenth of the images for the test, and a tenth for validation."""

import numpy as np

from vsebench.data.problem import Dataset, Split
from vsebench.protocols.base import Protocol
from vsebench.protocols.whole_images import drawn_parts, hold_out_images


class Images(Protocol):
    """The images are drawn uniformly."""

    description = "whole images held out, drawn at random"
    new_images = True
    validation_metric = "map"

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        return hold_out_images(dataset, *drawn_parts(dataset.labels.n_rows, rng))


PROTOCOL = Images
