"""Logistic regression of each label on image features: the sum of the binary log-losses of all labels.

    loss of an image = sum over all labels c of log(1 + exp(-t_c s_c)),   s = x V + b

t_c is 1 if the image carries label c and -1 otherwise. `convex.py` adds the penalty and minimises the sum.

Source: Cox, "The regression analysis of binary sequences", J. R. Stat. Soc. B 20, 1958, once for each label.
"""

import numpy as np

from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.methods.by_features.convex import ConvexControl
from vsebench.methods.by_features.linear_map import LinearMap
from vsebench.methods.by_features.seen import see


def log_losses(scores: Matrix, labels: LabelMatrix) -> tuple[float, Matrix]:
    """Return the sum of the images' losses, and its derivatives with respect to the scores.

    scores : (m, n_labels) float32
    labels : m rows
    """
    pairs = (labels.image_of_pair, labels.label_of_pair)
    smaller = np.exp(-np.abs(scores))  # several times as fast as NumPy's logaddexp and SciPy's expit
    value = np.maximum(scores, 0).sum(dtype=np.float64) + np.log1p(smaller).sum(dtype=np.float64)
    value -= scores[pairs].sum(dtype=np.float64)
    slope = np.where(scores >= 0, np.float32(1), smaller)
    slope /= 1 + smaller
    slope[pairs] -= 1
    return float(value), slope


class Logistic(ConvexControl):
    """Logistic regression of each label; images without features are left out of the fit."""

    def model(self) -> LinearMap:
        return self.minimise(see(self.problem, self.settings), log_losses)


METHOD = Logistic
