"""The base class of decisions, and the functions that load a decision by its name.

A module of `vsebench.evaluation.decisions` lists its classes by name in the dictionary `DECISIONS`. Files in
config/decisions use these names.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError, instead
from vsebench.core.modules import modules_by_key
from vsebench.core.yaml_files import Strict, check
from vsebench.data.features import Rows
from vsebench.data.problem import Mask, Matrix
from vsebench.evaluation.metrics.base import load_metric
from vsebench.evaluation.sets import LabelSets


class DecisionSettings(Strict):
    """Base class of the settings of a decision."""


@dataclass(frozen=True)
class Scored:
    """Images for which a model has computed scores and further outputs, such as vectors."""

    scores: Matrix  # (n, n_labels)
    vectors: Matrix  # (n, d), input of a trained decision: the model's image vectors; the scores if there are none
    features: Callable[[], Rows | None] = lambda: None  # returns the raw features, (n, d), if the method reads them
    thresholds: Matrix | None = None  # (n, n_labels), thresholds from a model that predicts thresholds

    def above(self, threshold: float | Matrix) -> Mask:
        """Return a mask of the labels that score above a threshold.

        A threshold that is an array is broadcast to the scores.
        """
        return np.asarray(self.scores > threshold)


@dataclass(frozen=True, kw_only=True)
class Labelled(Scored):
    """Images for which a model has computed outputs, together with the correct labels of the images."""

    right: Mask  # (n, n_labels)


@dataclass(frozen=True)
class Tuning:
    """The metric for which a decision is tuned, and further inputs of `Decision.fit`, such as the seed."""

    tuned_for: str | None  # the metric of label sets that is optimised on the validation images, if any
    seed: int  # seed of all random numbers
    label_distribution: Mapping[str, NDArray[Any]] | None = None  # for oracles: the arrays of truth.npz

    def value(self, predicted: Mask, right: Mask) -> float:
        """Return the metric `tuned_for` of predicted label sets, multiplied by -1 if smaller values are better.

        `predicted` and `right` are masks of shape (n, n_labels).
        """
        assert self.tuned_for is not None
        return load_metric(self.tuned_for).sign * LabelSets.of_masks(predicted, right).value(self.tuned_for)


class Decision(ABC):
    """A rule that chooses the label set of an image from its scores."""

    settings_type: ClassVar[type[DecisionSettings]] = DecisionSettings
    # Inputs in addition to the scores: "label_distribution" (of simulated data), "thresholds" (of the model).
    needs: ClassVar[frozenset[str]] = frozenset()
    trains: ClassVar[bool] = False  # whether `fit` uses the model's training images; if not, they may be left out
    tunes: ClassVar[bool] = False  # whether `fit` optimises the metric `tuned_for` of the decision's configuration

    def __init__(self, tuning: Tuning, settings: Any) -> None:
        self.tuning, self.settings = tuning, settings

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        """Fit the decision, and return its parameters.

        It is trained on `first`, the model's training images, and tuned on `valid`, the validation images. By default,
        there is nothing to fit.
        """
        return {}

    @abstractmethod
    def decide(self, images: Scored) -> Mask:
        """Return a mask of the labels that are chosen for each image, of shape (n, n_labels)."""


class ThresholdDecision(Decision):
    """A decision that chooses the labels that score above a threshold, which depends on the image and the label."""

    @abstractmethod
    def thresholds(self, images: Scored) -> Matrix:
        """Return the threshold for each image and label, as a float32 array of shape (n, n_labels)."""

    def decide(self, images: Scored) -> Mask:
        return images.above(self.thresholds(images))


def load_decision(name: str) -> type[Decision]:
    """Return the class that a module of this package lists under this name in `DECISIONS`.

    An unknown name raises a `UserError`.
    """
    known = modules_by_key("DECISIONS", "evaluation/decisions")
    if name not in known:
        raise UserError(f"there is no decision {name!r}; {instead(name, known, 'decisions')}")
    decision: type[Decision] = importlib.import_module(known[name]).DECISIONS[name]
    return decision


def make_decision(name: str, tuning: Tuning, settings: Mapping[str, Any], where: str) -> Decision:
    """Return the decision `name` with the given settings.

    Wrong settings raise a `UserError` whose message begins with `where`.
    """
    kind = load_decision(name)
    return kind(tuning, check(kind.settings_type, dict(settings), where))
