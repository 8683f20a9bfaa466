"""Overall precision: hits / predicted, all labels and images counted together; 0 if nothing is predicted.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 28.
"""

import numpy as np
from numpy.typing import NDArray

from vsebench.evaluation.metrics.base import SetMetric, share


class OvPrecision(SetMetric):
    """Every predicted label weighs the same."""

    takes_cutoff = "always"

    def value(self, hits: NDArray[np.float64], predicted: NDArray[np.float64], right: NDArray[np.float64]) -> float:
        return float(share(hits.sum(), predicted.sum()))


METRIC = OvPrecision
