"""The exact label probabilities of simulated images, each of which has one of a catalogue's label sets.

    P(c | x) = softmax_c(v_c'x + a_c),   p_k(x) = sum of P(c | x) over the sets c with label k

See `formats/simulators/simulated_catalogue.py`. The score of a label is log(p_k / (1 - p_k)), above 0 where p_k > 1/2.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from vsebench.data.problem import Matrix, Queries
from vsebench.methods.controls.independent_labels import check_labels, check_logits
from vsebench.methods.model_of_fields import ModelOfFields
from vsebench.models import features_of

TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class LabelCatalogue(ModelOfFields):
    """Ranks labels by their probability.

    Attributes
    ----------
    label : (n_labels,) int32, the index among the L labels of the simulation of each label that is scored
    members : (C, L) bool, whether a set contains a label
    weight : (d, C) float64, v
    bias : (C,) float64, a
    """

    kind: ClassVar[str] = "label_catalogue"
    label: NDArray[np.int32]
    members: NDArray[np.bool_]
    weight: NDArray[np.float64]
    bias: NDArray[np.float64]

    def __post_init__(self) -> None:
        check_logits(self.weight, self.bias)
        if self.members.dtype != np.bool_ or self.members.ndim != 2 or len(self.members) != len(self.bias):
            shape = self.members.shape
            raise ValueError(f"members is {self.members.dtype} of shape {shape}, not bool of {len(self.bias)} rows")
        check_labels(self.label, self.members.shape[1])

    @property
    def n_labels(self) -> int:
        return len(self.label)

    @property
    def sets(self) -> NDArray[np.bool_]:
        """(C, n_labels) bool, whether a set contains a scored label."""
        return self.members[:, self.label]

    def scores(self, queries: Queries) -> Matrix:
        posterior = self.posterior(features_of(queries, len(self.weight)))
        # 1 - p is a sum of its own, which is exact for p near 1. For a label in all sets or in none, one sum is 0.
        present, absent = (np.maximum(posterior @ sets, TINY) for sets in (self.sets, ~self.sets))
        return (np.log(present) - np.log(absent)).astype(np.float32)

    def posterior(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return P(c | x) of each set, (n, C), for features, (n, d)."""
        return np.asarray(softmax(features @ self.weight + self.bias, axis=1))

    def largest_score(self) -> float:
        finite = np.isfinite(self.weight).all() and np.isfinite(self.bias).all()
        return float(-np.log(TINY)) if finite else np.nan


MODEL = LabelCatalogue
