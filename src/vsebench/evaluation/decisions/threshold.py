"""Threshold: the labels that score above a threshold that is the same for all labels and images.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, section 3.3.
The candidate thresholds are those of the authors' code; in the paper they span all scores, most of which are too low.
"""

from typing import Any

import numpy as np
from pydantic import Field

from vsebench.data.problem import Mask
from vsebench.evaluation.decisions.base import Decision, DecisionSettings, Labelled, Scored


class ThresholdSettings(DecisionSettings):
    """Settings of the threshold."""

    steps: int = Field(default=50, ge=2)  # number of candidate thresholds, equally spaced
    highest: int = Field(default=10, ge=1)  # number of each image's highest scores that the candidates span


class Threshold(Decision):
    """The threshold that is best on the validation images; of equal ones, the smallest."""

    settings_type = ThresholdSettings
    tunes = True

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        highest = np.sort(valid.scores, axis=1)[:, -self.settings.highest :]
        tried = np.linspace(highest.min(), highest.max(), self.settings.steps, dtype=np.float32)
        self.threshold = max(tried, key=lambda threshold: self.tuning.value(valid.scores > threshold, valid.right))
        return {"threshold": float(self.threshold)}

    def decide(self, images: Scored) -> Mask:
        return images.above(self.threshold)


DECISION = Threshold
