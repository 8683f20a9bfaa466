"""Top k: the first k labels of every image, one k for all.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, section 3.3; k
is chosen as in the authors' code.
"""

from typing import Any

from pydantic import Field

from vsebench.data.problem import Mask
from vsebench.evaluation.decisions.base import Decision, DecisionSettings, Labelled, Scored, places


class TopKSettings(DecisionSettings):
    """Settings of top k."""

    largest: int = Field(default=10, ge=1)  # k is chosen from 1 to this number


class TopK(Decision):
    """The k that is best on the validation images, the smallest of equally good ones."""

    settings_type = TopKSettings
    tunes = True

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        at = places(valid.scores)
        tried = range(1, min(self.settings.largest, valid.scores.shape[1]) + 1)
        self.k = max(tried, key=lambda k: self.task.value(at < k, valid.right))
        return {"k": self.k}

    def decide(self, images: Scored) -> Mask:
        chosen: Mask = places(images.scores) < self.k
        return chosen


DECISION = TopK
