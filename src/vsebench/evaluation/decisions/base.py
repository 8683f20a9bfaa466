"""The contract of a decision, `Decision`, and the functions that load a decision by its name.

A module `vsebench.evaluation.decisions.<name>` defines one class, `DECISION`; config/decisions/<name>.yaml uses it.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.modules import modules_in
from vsebench.core.yaml_files import Strict, check
from vsebench.data.features import Rows
from vsebench.data.problem import Mask, Matrix
from vsebench.evaluation.metrics.base import load_metric
from vsebench.evaluation.sets import LabelSets


class DecisionSettings(Strict):
    """The settings of a decision; a decision adds its own."""


@dataclass(frozen=True)
class Scored:
    """Images with a model's outputs for them.

    Attributes
    ----------
    scores : (n, n_labels) float32
    vectors : (n, d) float32, the input of a trained decision: the model's image vectors, or the scores if it has none
    features : returns the raw features, (n, d) dense or CSR; None if the method reads none
    thresholds : (n, n_labels) float32 of a model that was trained with thresholds, otherwise None
    """

    scores: Matrix
    vectors: Matrix
    features: Callable[[], Rows | None] = lambda: None
    thresholds: Matrix | None = None

    def above(self, threshold: float | Matrix) -> Mask:
        """Return the labels that score above a threshold: a number, or an array that is broadcast to the scores."""
        return np.asarray(self.scores > threshold)


@dataclass(frozen=True, kw_only=True)
class Labelled(Scored):
    """Images whose labels are known.

    Attributes
    ----------
    right : (n, n_labels) bool
    """

    right: Mask


@dataclass(frozen=True)
class Tuning:
    """The context in which a decision is fitted.

    Attributes
    ----------
    tuned_for : the metric of label sets that is optimised on the validation images; None for a decision without
        tuning
    seed : the only source of random numbers
    label_distribution : for oracles only: the simulator's label distribution, as `truth` in `problem.Problem`
    """

    tuned_for: str | None
    seed: int
    label_distribution: Mapping[str, NDArray[Any]] | None = None

    def value(self, predicted: Mask, right: Mask) -> float:
        """Return the metric of predicted label sets, each (n, n_labels) bool; larger is better."""
        assert self.tuned_for is not None
        value = LabelSets.of_masks(predicted, right).value(self.tuned_for)
        return -value if load_metric(self.tuned_for).lower_is_better else value


class Decision(ABC):
    """A rule that chooses the label set of an image from its scores.

    Attributes
    ----------
    settings_type : the pydantic class of its settings
    needs : inputs in addition to the scores: "label_distribution" (of simulated data), "thresholds" (of the model)
    trains : whether it reads the model's training images; if not, `fit` gets none of them
    tunes : whether it optimises the metric that its file names in `tuned_for`
    """

    settings_type: ClassVar[type[DecisionSettings]] = DecisionSettings
    needs: ClassVar[frozenset[str]] = frozenset()
    trains: ClassVar[bool] = False
    tunes: ClassVar[bool] = False

    def __init__(self, tuning: Tuning, settings: Any) -> None:
        self.tuning, self.settings = tuning, settings

    @abstractmethod
    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        """Train on `first`, the model's training images, and tune on `valid`, which the model was not trained on.

        Returns the chosen parameters, for the record.
        """

    @abstractmethod
    def decide(self, images: Scored) -> Mask:
        """Return the chosen label sets, (n, n_labels) bool."""


class ThresholdDecision(Decision):
    """A decision that chooses the labels whose scores exceed a threshold per image and label."""

    @abstractmethod
    def thresholds(self, images: Scored) -> Matrix:
        """Return the thresholds, (n, n_labels) float32."""

    def decide(self, images: Scored) -> Mask:
        return images.above(self.thresholds(images))


def load_decision(name: str) -> type[Decision]:
    """Return the class `DECISION` of a module of this package; an unknown name raises a `UserError`."""
    known = {name: path for name, path in modules_in("evaluation/decisions").items() if name not in ("base", "heads")}
    if name not in known:
        raise UserError(f"there is no decision {name!r}; there are {', '.join(known)}")
    decision: type[Decision] = importlib.import_module(known[name]).DECISION
    return decision


def make_decision(name: str, tuning: Tuning, settings: Mapping[str, Any], where: str) -> Decision:
    """Return a decision with its settings; a mistake in them raises a `UserError` that names `where`."""
    kind = load_decision(name)
    return kind(tuning, check(kind.settings_type, dict(settings), where))
