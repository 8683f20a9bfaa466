"""Protocol `distinct`: hold out one distinct label of each image with all its occurrences."""

import numpy as np

from vsebench.data.problem import Dataset, Split
from vsebench.protocols.base import Protocol
from vsebench.protocols.labels import leave_one_out


class Distinct(Protocol):
    """The label is drawn uniformly. An image with a single label is used for training only."""

    description = "one distinct label of each image held out"
    new_images = False
    validation_metric = "ndcg@10"

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        return leave_one_out(dataset, by_occurrence=False, rng=rng)


PROTOCOL = Distinct
