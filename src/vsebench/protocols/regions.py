"""Protocol `regions`: hold out one occurrence of a label (a region label) of each image."""

import numpy as np

from vsebench.data.problem import Dataset, Split
from vsebench.protocols.base import Protocol
from vsebench.protocols.labels import leave_one_out


class Regions(Protocol):
    """The occurrence is drawn uniformly. If the image has other occurrences of the label, the label is a miss."""

    description = "one region label of each image held out, repeated labels stay"
    new_images = False
    leaves_cold = True
    by_occurrence = True
    validation_metric = "ndcg@10"

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        return leave_one_out(dataset, by_occurrence=True, rng=rng)


PROTOCOL = Regions
