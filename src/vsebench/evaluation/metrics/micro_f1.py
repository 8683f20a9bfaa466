"""Micro (overall) F1: 2 hits / (predicted + right), all labels and images counted together."""

import numpy as np
from numpy.typing import NDArray

from vsebench.evaluation.metrics.base import SetMetric


class MicroF1(SetMetric):
    """Every predicted and every right label weighs the same."""

    takes_cutoff = "always"

    def value(self, hits: NDArray[np.float64], predicted: NDArray[np.float64], right: NDArray[np.float64]) -> float:
        both = float(predicted.sum() + right.sum())
        return 2 * float(hits.sum()) / both if both else 0.0


METRIC = MicroF1
