"""The exact label probabilities of simulated images whose labels depend on the image features.

The score of label k for an image with the features x is log(p / (1 - p)), which is above 0 if the label's probability
p = p_k(x) is above 1/2.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from vsebench.data.problem import Matrix, Queries
from vsebench.models import ModelOfFields, features_of

TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class IndependentLabels(ModelOfFields):
    """Ranks labels by their probability, for images whose labels are independent given the features.

    The probability p_k(x) of label k, given the features x of an image, follows from

        log(p_k(x) / (1 - p_k(x))) = w_k'x + b_k

    See `formats/simulators/simulated_independent.py`.

    Attributes
    ----------
    label : (n_labels,) int32, the index of each scored label among the L labels of the simulation
    weight : (d, L) float64, the columns w_k
    bias : (L,) float64, the numbers b_k
    """

    kind: ClassVar[str] = "independent_labels"
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    bias: NDArray[np.float64]

    def __post_init__(self) -> None:
        check_logits(self.weight, self.bias)
        check_labels(self.label, len(self.bias))

    @property
    def n_labels(self) -> int:
        return len(self.label)

    def scores(self, queries: Queries) -> Matrix:
        return self.log_odds(features_of(queries, len(self.weight))).astype(np.float32)

    def log_odds(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return log(p / (1 - p)) for each image and each scored label, (n, n_labels).

        Here, p is the probability that the image has the label. `features` has the shape (n, d).
        """
        return np.asarray((features @ self.weight + self.bias)[:, self.label], order="C")

    def marginals(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability that each image has each scored label, (n, n_labels).

        `features` has the shape (n, d).
        """
        return np.asarray(expit(self.log_odds(features)))

    def largest_score(self) -> float:
        # Features are checked when they are read, so only the parameters can be infinite or NaN.
        return float(np.linalg.norm(self.weight) + np.linalg.norm(self.bias))


@dataclass(frozen=True)
class LabelCatalogue(ModelOfFields):
    """Ranks labels by their probability, for images that each have one of a catalogue's label sets.

        P(c | x) = softmax_c(v_c'x + a_c),   p_k(x) = sum of P(c | x) over the sets c with label k

    Here, P(c | x) is the probability that an image with the features x has the set c, and p_k(x) is the probability
    that it has label k. See `formats/simulators/simulated_catalogue.py`.

    Attributes
    ----------
    label : (n_labels,) int32, the index of each scored label among the L labels of the simulation
    members : (C, L) bool, whether each set contains each label
    weight : (d, C) float64, the columns v_c
    bias : (C,) float64, the numbers a_c
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
            raise ValueError(f"members is {self.members.dtype} of shape {shape}, not bool with {len(self.bias)} rows")
        check_labels(self.label, self.members.shape[1])

    @property
    def n_labels(self) -> int:
        return len(self.label)

    @property
    def sets(self) -> NDArray[np.bool_]:
        """Whether each set contains each scored label, (C, n_labels) bool."""
        return self.members[:, self.label]

    def scores(self, queries: Queries) -> Matrix:
        posterior = self.posterior(features_of(queries, len(self.weight)))
        # 1 - p is computed as a separate sum, which is exact for p near 1. One of the two sums is 0 if all sets have
        # the label, or if none has it.
        present, absent = (np.maximum(posterior @ sets, TINY) for sets in (self.sets, ~self.sets))
        return (np.log(present) - np.log(absent)).astype(np.float32)

    def posterior(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability that each image has each set, (n, C).

        `features` has the shape (n, d).
        """
        return np.asarray(softmax(features @ self.weight + self.bias, axis=1))

    def largest_score(self) -> float:
        finite = np.isfinite(self.weight).all() and np.isfinite(self.bias).all()
        return float(-np.log(TINY)) if finite else np.nan


def check_logits(weight: NDArray[Any], bias: NDArray[Any]) -> None:
    """Raise a `ValueError` unless `weight` and `bias` are float64 and have the shapes (d, m) and (m,)."""
    if weight.dtype != np.float64 or weight.ndim != 2:
        raise ValueError(f"weight is {weight.dtype} of shape {weight.shape}, not float64 with two dimensions")
    if bias.dtype != np.float64 or bias.shape != weight.shape[1:]:
        raise ValueError(f"bias is {bias.dtype} of shape {bias.shape}, not float64 of shape {weight.shape[1:]}")


def check_labels(label: NDArray[Any], n_labels: int) -> None:
    """Raise a `ValueError` unless `label` is a one-dimensional int32 array of indices below `n_labels`."""
    if label.dtype != np.int32 or label.ndim != 1:
        raise ValueError(f"label is {label.dtype} of shape {label.shape}, not int32 with one dimension")
    if len(label) and not 0 <= label.min() <= label.max() < n_labels:
        raise ValueError(f"label: the labels' numbers must be from 0 to {n_labels - 1}")


MODELS = {"independent_labels": IndependentLabels, "label_catalogue": LabelCatalogue}
