"""Control: every image gets the same ranking, by how often a label occurs in training."""

from vsebench.data.problem import Problem
from vsebench.methods.base import Control, Settings
from vsebench.models import Embeddings, by_frequency


class Popularity(Control):
    """Popularity, as one factor that is 1 for every image; a label counts as often as it occurs on an image."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.labels = problem.training.labels

    def model(self) -> Embeddings:
        return by_frequency(self.labels)


METHOD = Popularity
