"""Oracle of simulated data: the ranking by the true probabilities that the labels were drawn from."""

from vsebench.methods.base import Control, Settings
from vsebench.models import Embeddings
from vsebench.problem import Problem


class Oracle(Control):
    """The simulator's own topic mixtures of images and label probabilities of topics."""

    needs = frozenset({"truth"})

    def __init__(self, problem: Problem, settings: Settings) -> None:
        assert problem.truth is not None
        self.truth = problem.truth

    def model(self) -> Embeddings:
        return Embeddings(self.truth["image"], self.truth["label"])


METHOD = Oracle
