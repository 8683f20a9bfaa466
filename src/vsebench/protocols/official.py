"""Protocol `official`: test on the test images of the data set's official partition."""

import numpy as np

from vsebench.core.errors import UserError
from vsebench.data.problem import Dataset, Split
from vsebench.protocols.base import Protocol
from vsebench.protocols.whole_images import hold_out_images, own_parts


class Official(Protocol):
    """Validation images are those of the partition, or else every ninth training image; seeds make no difference."""

    description = "the data set's own test images held out"
    new_images = True
    validation_metric = "map"
    fixed = True

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        if dataset.parts is None:
            raise UserError("this data set has no official partition; use the protocol 'images'")
        return hold_out_images(dataset, *own_parts(dataset.parts))


PROTOCOL = Official
