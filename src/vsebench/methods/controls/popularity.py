"""Control: every image gets the same ranking, by the number of a label's occurrences in training."""

from vsebench.methods.base import Control
from vsebench.models import Embeddings, by_frequency


class Popularity(Control):
    """The number of occurrences of each label in training, as one factor that is 1 for every image."""

    def model(self) -> Embeddings:
        return by_frequency(self.problem.training.labels)


METHOD = Popularity
