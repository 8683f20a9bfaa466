"""Oracle of simulated data: rank labels by the probabilities that they were drawn with."""

from vsebench.data.needs import TRUTH
from vsebench.data.problem import Problem
from vsebench.methods.base import Control, Settings
from vsebench.methods.controls.independent_labels import IndependentLabels
from vsebench.methods.controls.label_catalogue import LabelCatalogue
from vsebench.methods.controls.tree_posterior import TreePosterior
from vsebench.models import Embeddings, Model


class Oracle(Control):
    """The simulator's model: topic vectors of images and labels, or label probabilities given features."""

    needs = frozenset({"truth"})
    ranks_unseen = True

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.truth = TRUTH.of(problem)

    def model(self) -> Model:
        if "image" in self.truth:
            return Embeddings(self.truth["image"], self.truth["label"])
        if "members" in self.truth:
            return LabelCatalogue.from_arrays(self.truth)
        if "weight" in self.truth:
            return IndependentLabels.from_arrays(self.truth)
        return TreePosterior.from_arrays(self.truth)


METHOD = Oracle
