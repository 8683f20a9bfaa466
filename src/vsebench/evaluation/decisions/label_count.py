"""Label count: a network predicts the number k of an image's labels, and the first k labels of its list are chosen.

The output is a softmax over the numbers from `smallest` to `largest`, to which numbers outside are clipped. The epoch
is chosen by the mean absolute error of the number on the validation images.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, section 3.3,
where the numbers are 1 to 4.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.data.problem import Mask, Matrix
from vsebench.evaluation.decisions.base import Decision, Labelled, Scored
from vsebench.evaluation.decisions.heads import Head, HeadSettings
from vsebench.evaluation.ranking import ranks_from_zero


class LabelCountSettings(HeadSettings):
    """Settings of the predicted number of labels."""

    smallest: int | None = Field(default=None, ge=0)  # none: 0 if a training image has no label, otherwise 1
    largest: int | None = Field(default=None, ge=1)  # none: the number that 99.5 % of the training images do not exceed

    @model_validator(mode="after")
    def _in_order(self) -> "LabelCountSettings":
        if self.smallest is not None and self.largest is not None and self.smallest > self.largest:
            raise PydanticCustomError("order", "smallest: must not be above largest")
        return self


class LabelCount(Decision):
    """A decision that chooses the most probable number of labels."""

    settings_type = LabelCountSettings
    trains = True

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        settings, counts = self.settings, first.right.sum(axis=1)
        self.smallest = min(1, int(counts.min())) if settings.smallest is None else settings.smallest
        largest = int(np.percentile(counts, 99.5, method="higher")) if settings.largest is None else settings.largest
        self.largest = max(self.smallest, largest)
        classes = np.clip(counts, self.smallest, self.largest) - self.smallest
        right = valid.right.sum(axis=1)
        self.head = Head(settings, settings.hidden, self.tuning.seed)

        def loss(outputs: Matrix, images: NDArray[np.int64]) -> float:
            outputs -= outputs.max(axis=1, keepdims=True)
            own = np.arange(len(images)), classes[images]
            log_share = outputs[own] - np.log(np.exp(outputs).sum(axis=1))
            np.exp(outputs, out=outputs)
            outputs /= outputs.sum(axis=1, keepdims=True)
            outputs[own] -= 1
            return float(-log_share.sum())

        n_classes = self.largest - self.smallest + 1
        epoch = self.head.train(first, n_classes, loss, lambda: -float(np.abs(self.counts(valid) - right).mean()))
        return {"smallest": self.smallest, "largest": self.largest, "epoch": epoch}

    def counts(self, images: Scored) -> NDArray[np.int64]:
        """Return the predicted number of labels of each image, (n,)."""
        return np.asarray(self.head.outputs(images).argmax(axis=1) + self.smallest)

    def decide(self, images: Scored) -> Mask:
        return ranks_from_zero(images.scores) < self.counts(images)[:, np.newaxis]


DECISION = LabelCount
