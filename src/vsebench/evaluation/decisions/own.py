"""Own: the labels that score above the model's own learnt thresholds for the image."""

from typing import Any

from vsebench.data.problem import Matrix
from vsebench.evaluation.decisions.base import Labelled, Scored, ThresholdDecision


class Own(ThresholdDecision):
    """Nothing is fitted; for models that are trained with thresholds, such as those of `lsep_joint`."""

    needs = frozenset({"thresholds"})

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        return {}

    def thresholds(self, images: Scored) -> Matrix:
        assert images.thresholds is not None
        return images.thresholds


DECISION = Own
