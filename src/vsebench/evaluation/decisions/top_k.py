"""Top k: the first k labels of every image, with the same k for all images.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, section 3.3; k
is chosen as in the authors' code.
"""

from typing import Any

from pydantic import Field

from vsebench.data.problem import Mask
from vsebench.evaluation.decisions.base import Decision, DecisionSettings, Labelled, Scored
from vsebench.evaluation.ranking import ranks_from_zero


class TopKSettings(DecisionSettings):
    """Settings of top k."""

    largest: int = Field(default=10, ge=1)  # k is chosen between 1 and this number


class TopK(Decision):
    """The k that is best on the validation images; of equal ones, the smallest."""

    settings_type = TopKSettings
    tunes = True

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        ranks = ranks_from_zero(valid.scores)
        tried = range(1, min(self.settings.largest, valid.scores.shape[1]) + 1)
        self.k = max(tried, key=lambda k: self.tuning.value(ranks < k, valid.right))
        return {"k": self.k}

    def decide(self, images: Scored) -> Mask:
        return ranks_from_zero(images.scores) < self.k


DECISION = TopK
