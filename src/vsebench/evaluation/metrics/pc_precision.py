"""Per-class precision: the mean over all labels of hits / predicted; 0 for a label that is never predicted.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 27.
"""

import numpy as np
from numpy.typing import NDArray

from vsebench.evaluation.metrics.base import SetMetric, share


class PcPrecision(SetMetric):
    """Every label of the vocabulary weighs the same, including those without a test image."""

    takes_cutoff = "always"

    def value(self, hits: NDArray[np.float64], predicted: NDArray[np.float64], right: NDArray[np.float64]) -> float:
        return float(share(hits, predicted).mean())


METRIC = PcPrecision
