"""Own: the labels that score above the thresholds that the model itself has learnt for the image."""

from typing import Any

from vsebench.data.problem import Matrix
from vsebench.evaluation.decisions.base import Labelled, Scored, ThresholdDecision


class Own(ThresholdDecision):
    """Nothing is chosen here; for models that are trained with a decision, such as those of `lsep_joint`."""

    needs = frozenset({"thresholds"})

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        return {}

    def thresholds(self, images: Scored) -> Matrix:
        assert images.thresholds is not None
        return images.thresholds


DECISION = Own
