"""Protocol `unseen_labels_by_frequency`: as `unseen_labels`, but with unseen labels of all frequencies."""

import numpy as np

from vsebench.data.problem import Ids
from vsebench.protocols.unseen import EVERY, UnseenLabels


class DrawnByFrequency(UnseenLabels):
    """One label is drawn from every five in the order of their frequency."""

    description = "labels that were never trained, alone, drawn by frequency"
    only_unseen = True

    def draw(self, labels: Ids, frequency: Ids, rng: np.random.Generator) -> Ids:
        order = labels[np.argsort(-frequency, kind="stable")]
        firsts = np.arange(len(labels) // EVERY) * EVERY
        return np.asarray(order[firsts + rng.integers(0, EVERY, len(firsts))])


PROTOCOL = DrawnByFrequency
