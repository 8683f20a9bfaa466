"""Score above: the labels that score above a given threshold, such as 0 for losses with calibrated scores."""

from typing import Any

from vsebench.data.problem import Mask
from vsebench.evaluation.decisions.base import Decision, DecisionSettings, Labelled, Scored


class ScoreAboveSettings(DecisionSettings):
    """Settings of a given threshold."""

    threshold: float = 0.0  # labels that score above are chosen


class ScoreAbove(Decision):
    """A fixed threshold; with binary cross-entropy, a score above 0 means a probability above 1/2."""

    settings_type = ScoreAboveSettings

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        return {"threshold": self.settings.threshold}

    def decide(self, images: Scored) -> Mask:
        return images.above(self.settings.threshold)


DECISION = ScoreAbove
