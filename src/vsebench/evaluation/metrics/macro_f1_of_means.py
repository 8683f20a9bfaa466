"""The F1 of per-class precision and per-class recall, 2 P R / (P + R): other than `macro_f1`, and never smaller.

Source: Makadia, Pavlovic and Kumar, "A new baseline for image annotation", ECCV 2008, as LEAR and FastTag print it.
"""

import numpy as np
from numpy.typing import NDArray

from vsebench.evaluation.metrics.base import SetMetric, share


class MacroF1OfMeans(SetMetric):
    """Every label of the vocabulary weighs the same, including those without a test image."""

    takes_cutoff = "always"

    def value(self, hits: NDArray[np.float64], predicted: NDArray[np.float64], right: NDArray[np.float64]) -> float:
        precision, recall = share(hits, predicted).mean(), share(hits, right).mean()
        return float(share(2 * precision * recall, precision + recall))


METRIC = MacroF1OfMeans
