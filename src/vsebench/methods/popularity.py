"""Control: every image gets the same ranking, by how often a label occurs in training."""

import numpy as np

from vsebench.methods.base import Control, Settings
from vsebench.models import Embeddings
from vsebench.problem import LabelMatrix, Problem


class Popularity(Control):
    """Popularity, as one factor that is 1 for every image; occurrences count, not images."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.labels = problem.training.labels

    def model(self) -> Embeddings:
        return by_frequency(self.labels)


def by_frequency(labels: LabelMatrix) -> Embeddings:
    """Return the model that scores a label by its occurrences in `labels`, one row per image of the data set."""
    occurrences = np.bincount(labels.label_of_pair, weights=labels.count_of_pair, minlength=labels.n_labels)
    ones = np.ones((labels.n_rows, 1), dtype=np.float32)
    return Embeddings(ones, occurrences.astype(np.float32)[:, np.newaxis])


METHOD = Popularity
