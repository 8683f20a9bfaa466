"""Micro (overall) F1: 2 hits / (predicted + right), all labels and images counted together."""

import numpy as np
from numpy.typing import NDArray

from vsebench.evaluation.metrics.base import SetMetric, share


class MicroF1(SetMetric):
    """Every predicted and every right label weighs the same."""

    takes_cutoff = "always"

    def value(self, hits: NDArray[np.float64], predicted: NDArray[np.float64], right: NDArray[np.float64]) -> float:
        return float(share(2 * hits.sum(), predicted.sum() + right.sum()))


METRIC = MicroF1
