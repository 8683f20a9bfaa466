"""What a decision is: the contract of `Decision`, and how a module of this package is found.

A module `vsebench.evaluation.decisions.<name>` defines one class, `DECISION`; config/decisions/<name>.yaml uses it.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict, check
from vsebench.data.features import Rows
from vsebench.data.problem import Mask, Matrix
from vsebench.evaluation.metrics.base import load_metric
from vsebench.evaluation.sets import LabelSets


class DecisionSettings(Strict):
    """The settings of a decision; a decision adds its own."""


@dataclass(frozen=True)
class Scored:
    """Images with what a model says of them.

    Attributes
    ----------
    scores : (n, n_labels) float32
    vectors : (n, d) float32, what a trained decision reads: the model's vectors of images, or the scores if it has none
    features : returns the raw features, (n, d) dense or CSR; None where the row reads none
    thresholds : (n, n_labels) float32 of a model that was trained with thresholds, else None
    """

    scores: Matrix
    vectors: Matrix
    features: Callable[[], Rows | None] = lambda: None
    thresholds: Matrix | None = None


@dataclass(frozen=True, kw_only=True)
class Labelled(Scored):
    """Images whose labels are known.

    Attributes
    ----------
    right : (n, n_labels) bool
    """

    right: Mask


@dataclass(frozen=True)
class Task:
    """What a decision is made for.

    Attributes
    ----------
    tuned_for : the metric of sets that is as good as possible on the validation images; None of a decision that has
        nothing to tune
    seed : the only source of random numbers
    law : for oracles alone: what the simulator drew the label sets from, as `truth` in `problem.Problem`
    """

    tuned_for: str | None
    seed: int
    law: Mapping[str, NDArray[Any]] | None = None

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
    needs : what it needs beside the scores: "law" (of simulated label sets), "thresholds" (of the model)
    trains : whether it reads the images that the model was fitted to; `fit` gets none of them if not
    tunes : whether it is chosen by the metric that its file names in `tuned_for`
    """

    settings_type: ClassVar[type[DecisionSettings]] = DecisionSettings
    needs: ClassVar[frozenset[str]] = frozenset()
    trains: ClassVar[bool] = False
    tunes: ClassVar[bool] = False

    def __init__(self, task: Task, settings: Any) -> None:
        self.task, self.settings = task, settings

    @abstractmethod
    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        """Train on the images that the model was fitted to, choose on the validation images, which it was not.

        Returns what was chosen, for the record.
        """

    @abstractmethod
    def decide(self, images: Scored) -> Mask:
        """Return the chosen label sets, (n, n_labels) bool."""


class ThresholdDecision(Decision):
    """A decision that chooses the labels that score above a threshold for the image and label."""

    @abstractmethod
    def thresholds(self, images: Scored) -> Matrix:
        """Return the thresholds, (n, n_labels) float32."""

    def decide(self, images: Scored) -> Mask:
        chosen: Mask = images.scores > self.thresholds(images)
        return chosen


def load_decision(name: str) -> type[Decision]:
    """Return the class `DECISION` of a module of this package; a wrong name raises a `UserError`."""
    known = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py") if path.stem not in ("base", "heads"))
    if name not in known:
        raise UserError(f"there is no decision {name!r}; there are {', '.join(known)}")
    found: type[Decision] = importlib.import_module(f"vsebench.evaluation.decisions.{name}").DECISION
    return found


def make_decision(name: str, task: Task, settings: Mapping[str, Any], where: str) -> Decision:
    """Return a decision with its settings; a mistake in them raises a `UserError` that names `where`."""
    kind = load_decision(name)
    return kind(task, check(kind.settings_type, dict(settings), where))


def places(scores: Matrix) -> NDArray[np.int32]:
    """Return each label's place in its image's list, from 0, (n, n_labels); of equal scores the smaller label first."""
    order = np.argsort(-scores, axis=1, kind="stable")
    found = np.empty(scores.shape, dtype=np.int32)
    np.put_along_axis(found, order, np.arange(scores.shape[1], dtype=np.int32)[np.newaxis], axis=1)
    return found
