"""Macro F1: the mean over all labels of the F1 of a label, 2 hits / (predicted + right); 0 for a label with neither."""

import numpy as np
from numpy.typing import NDArray

from vsebench.evaluation.metrics.base import SetMetric, share


class MacroF1(SetMetric):
    """Every label of the vocabulary weighs the same, including those without a test image."""

    takes_cutoff = "always"

    def value(self, hits: NDArray[np.float64], predicted: NDArray[np.float64], right: NDArray[np.float64]) -> float:
        return float(share(2 * hits, predicted + right).mean())


METRIC = MacroF1
