"""Oracle of simulated data: rank labels by the probabilities that they were drawn with."""

from vsebench.data.needs import TRUTH
from vsebench.methods.base import Control
from vsebench.methods.controls.independent_labels import IndependentLabels
from vsebench.methods.controls.label_catalogue import LabelCatalogue
from vsebench.methods.controls.tree_posterior import TreePosterior
from vsebench.models import Embeddings, Model


class Oracle(Control):
    """The model that the simulator drew the labels from, such as the topic vectors of images and labels."""

    needs = frozenset({"truth"})
    ranks_unseen = True

    def model(self) -> Model:
        truth = TRUTH.of(self.problem)
        if "image" in truth:
            return Embeddings(truth["image"], truth["label"])
        if "members" in truth:
            return LabelCatalogue.from_arrays(truth)
        if "weight" in truth:
            return IndependentLabels.from_arrays(truth)
        return TreePosterior.from_arrays(truth)


METHOD = Oracle
