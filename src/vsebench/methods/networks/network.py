"""A model of several methods: a network on image features, whose last layer computes each label's score.

h_0 = x,   h_l = max(0, h_(l-1) W_l + b_l),   f(x) = h_last W + b
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vsebench.data.features import Normalisation
from vsebench.data.problem import Matrix, Queries
from vsebench.methods.by_features.linear_map import dense
from vsebench.methods.networks.layers import units_after
from vsebench.models import Embedded, check_matrix, features_of, norm


@dataclass(frozen=True)
class Network(Embedded):
    """Scores are inner products of a label's weights with the units of the last hidden layer, plus an intercept.

    Attributes
    ----------
    hidden : for each hidden layer its weights and, as the last row, its intercepts: (inputs + 1, units) float32
    label : (n_labels, units + 1) float32: the weights of each label, and its intercept
    normalisation : as fitted to the training images
    """

    kind: ClassVar[str] = "network"
    biased: ClassVar[bool] = True
    hidden: Sequence[Matrix]
    label: Matrix
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_matrix(self.label, "label", (None, None))
        inputs_after = [*(len(layer) - 1 for layer in self.hidden[1:]), self.label.shape[1] - 1]
        for number, (layer, units) in enumerate(zip(self.hidden, inputs_after, strict=False)):
            check_matrix(layer, f"hidden{number}", (None, units))

    def vectors(self, queries: Queries) -> Matrix:
        n_features = len(self.hidden[0]) - 1 if self.hidden else self.label.shape[1] - 1
        rows = self.normalisation.apply(features_of(queries, n_features))
        units = dense(units_after(rows, self.hidden))
        return np.hstack([units, np.ones((len(units), 1), dtype=np.float32)])

    def largest_score(self) -> float:
        # Features are checked when they are read, so only the weights can be infinite or NaN.
        return float(np.prod([norm(layer) for layer in (*self.hidden, self.label)]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        hidden = {f"hidden{number}": layer for number, layer in enumerate(self.hidden)}
        return hidden | {"label": self.label} | self.normalisation.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Network":
        return cls(hidden_layers(arrays), arrays["label"], Normalisation.from_arrays(arrays, cls.kind))


def hidden_layers(arrays: Mapping[str, NDArray[Any]]) -> list[Matrix]:
    """Return the hidden layers among a network's saved arrays, in their order."""
    names = sorted((name for name in arrays if name.startswith("hidden")), key=lambda name: int(name[6:]))
    return [arrays[name] for name in names]


MODEL = Network
