"""Own: the labels that score above the thresholds that the model predicts for the image."""

from vsebench.data.problem import Matrix
from vsebench.evaluation.decisions.base import Scored, ThresholdDecision


class Own(ThresholdDecision):
    """A decision for models that are trained with thresholds, such as those of `lsep_joint`."""

    needs = frozenset({"thresholds"})

    def thresholds(self, images: Scored) -> Matrix:
        assert images.thresholds is not None
        return images.thresholds


DECISION = Own
