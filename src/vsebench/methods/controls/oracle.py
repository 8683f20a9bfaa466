"""Oracles of simulated data, which rank labels by the probabilities with which the simulator drew them."""

import numpy as np

from vsebench.data.needs import TRUTH
from vsebench.methods.base import Control
from vsebench.methods.controls.label_probabilities import IndependentLabels, LabelCatalogue
from vsebench.methods.controls.tree_posterior import TreePosterior
from vsebench.models import Embeddings, Model


class Oracle(Control):
    """The model from which the simulator drew the labels, for example the topic vectors of images and labels."""

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


class GroupOracle(Control):
    """Ranks the labels of a simulated tree by the probability of their parent, then by their own probability.

    If every parent has at least k labels, no ranking has a larger expected sibling precision at k.
    """

    needs = frozenset({"truth", "tree"})
    ranks_unseen = True

    def model(self) -> TreePosterior:
        return TreePosterior.from_arrays({**TRUTH.of(self.problem), "groups_first": np.array(True)})


METHODS = {"oracle": Oracle, "group_oracle": GroupOracle}
