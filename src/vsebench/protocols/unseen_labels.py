"""Protocol `unseen_labels`: a fifth of the labels is never trained, and only these labels are ranked."""

import numpy as np

from vsebench.data.problem import Ids
from vsebench.protocols.unseen import EVERY, UnseenLabels


class DrawnLabels(UnseenLabels):
    """The labels are drawn uniformly."""

    description = "labels that were never trained, alone"
    only_unseen = True

    def draw(self, labels: Ids, frequency: Ids, rng: np.random.Generator) -> Ids:
        return labels[rng.permutation(len(labels))[: len(labels) // EVERY]]


PROTOCOL = DrawnLabels
