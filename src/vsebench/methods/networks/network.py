"""A model that several methods share: a network on image features whose last layer computes the labels' scores.

h_0 = x,   h_l = max(0, h_(l-1) W_l + b_l),   f(x) = h_last W + b

x contains the normalised features of an image, and f(x) are the scores. W_l and b_l are the weights and intercepts of
hidden layer l, and W and b are those of the last layer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vsebench.data.features import Normalisation, Rows
from vsebench.data.problem import Matrix, Queries
from vsebench.methods.by_features.linear_map import dense
from vsebench.methods.networks.layers import units_after
from vsebench.models import Embedded, ModelOfFields, check_matrix, features_of, norm


class HiddenLayers(ModelOfFields, Embedded):
    """The base class of models that are networks with hidden layers.

    Attributes
    ----------
    hidden : the hidden layers, (inputs + 1, units) float32 each; the last row of a layer contains its intercepts
    normalisation : the normalisation fitted to the training images
    """

    hidden: Sequence[Matrix]
    normalisation: Normalisation

    def check_hidden(self, units: int) -> None:
        """Raise a `ValueError` unless each hidden layer matches the next, and the last one has `units` outputs."""
        inputs_after = [*(len(layer) - 1 for layer in self.hidden[1:]), units]
        for number, (layer, inputs) in enumerate(zip(self.hidden, inputs_after, strict=False)):
            check_matrix(layer, f"hidden{number}", (None, inputs))

    def units(self, queries: Queries, units: int) -> Rows:
        """Return the last hidden layer's outputs, (n, units), or, without hidden layers, the normalised features."""
        n_features = len(self.hidden[0]) - 1 if self.hidden else units
        return units_after(self.normalisation.apply(features_of(queries, n_features)), self.hidden)


@dataclass(frozen=True)
class Network(HiddenLayers):
    """Scores are inner products of a label's weights with the outputs of the last hidden layer, plus an intercept.

    Attributes
    ----------
    label : (n_labels, units + 1) float32: for each label, its weights and, in the last column, its intercept
    """

    kind: ClassVar[str] = "network"
    biased: ClassVar[bool] = True
    hidden: Sequence[Matrix]
    label: Matrix
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_matrix(self.label, "label", (None, None))
        self.check_hidden(self.label.shape[1] - 1)

    def vectors(self, queries: Queries) -> Matrix:
        units = dense(self.units(queries, self.label.shape[1] - 1))
        return np.hstack([units, np.ones((len(units), 1), dtype=np.float32)])

    def largest_score(self) -> float:
        # Features are checked when they are read, so only the weights can be infinite or NaN.
        return float(np.prod([norm(layer) for layer in (*self.hidden, self.label)]))


MODELS = {"network": Network}
