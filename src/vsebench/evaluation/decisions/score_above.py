"""Score above: the labels that score above a given number, such as 0 for a loss that says what a score means."""

from typing import Any

from vsebench.data.problem import Mask
from vsebench.evaluation.decisions.base import Decision, DecisionSettings, Labelled, Scored


class ScoreAboveSettings(DecisionSettings):
    """Settings of a given threshold."""

    threshold: float = 0.0  # labels that score above are chosen


class ScoreAbove(Decision):
    """Nothing is chosen: binary cross-entropy takes a score above 0 for a probability above 1/2."""

    settings_type = ScoreAboveSettings

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        return {"threshold": self.settings.threshold}

    def decide(self, images: Scored) -> Mask:
        chosen: Mask = images.scores > self.settings.threshold
        return chosen


DECISION = ScoreAbove
