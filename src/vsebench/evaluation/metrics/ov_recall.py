"""Overall recall: hits / right, all labels and images counted together.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 28.
"""

import numpy as np
from numpy.typing import NDArray

from vsebench.evaluation.metrics.base import SetMetric, share


class OvRecall(SetMetric):
    """Every right label weighs the same."""

    takes_cutoff = "always"

    def value(self, hits: NDArray[np.float64], predicted: NDArray[np.float64], right: NDArray[np.float64]) -> float:
        return float(share(hits.sum(), right.sum()))


METRIC = OvRecall
