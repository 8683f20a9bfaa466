"""Class thresholds: a network predicts a threshold per image and label; labels that score above it are chosen.

    L = -sum over labels k of y_k log s_k + (1 - y_k) log(1 - s_k),   s_k = sigmoid(f_k(x) - t_k(x)),   f fixed

The epoch is chosen by the metric that the decision is tuned for.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 15 and 16,
with the minus sign applied to both terms and the label index in both.
"""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import expit

from vsebench.data.problem import Matrix
from vsebench.evaluation.decisions.base import Labelled, Scored, ThresholdDecision
from vsebench.evaluation.decisions.heads import Head, HeadSettings


class ClassThresholdSettings(HeadSettings):
    """Settings of class thresholds."""

    # Units of each hidden layer, as multiples of the number of labels as in the authors' code; replaces `hidden`.
    hidden_per_label: tuple[Annotated[int, Field(ge=1)], ...] | None = Field(default=None, strict=False)


class ClassThreshold(ThresholdDecision):
    """Thresholds per image and label, predicted by a network."""

    settings_type = ClassThresholdSettings
    tunes = True
    trains = True

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        settings, n_labels = self.settings, first.scores.shape[1]
        sizes = settings.hidden_per_label
        hidden = settings.hidden if sizes is None else tuple(size * n_labels for size in sizes)
        self.head = Head(settings, hidden, self.tuning.seed)

        def loss(outputs: Matrix, images: NDArray[np.int64]) -> float:
            logits = first.scores[images] - outputs
            right = first.right[images]
            outputs[...] = right - expit(logits)
            return float(np.logaddexp(0, np.where(right, -logits, logits)).sum())

        epoch = self.head.train(first, n_labels, loss, lambda: self.tuning.value(self.decide(valid), valid.right))
        return {"hidden": list(hidden), "epoch": epoch}

    def thresholds(self, images: Scored) -> Matrix:
        return self.head.outputs(images)


DECISION = ClassThreshold
