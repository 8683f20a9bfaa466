"""Exact match: whether the predicted labels of an image are exactly its labels; two empty sets match.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, the "0-1" score.
"""

import numpy as np

from vsebench.evaluation.metrics.base import ImageSetMetric, Values


class ExactMatch(ImageSetMetric):
    """1 where no label is missing and none is too many, else 0; the mean is the subset accuracy of scikit-learn."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return np.where((hits == predicted) & (hits == right), 1.0, 0.0)


METRIC = ExactMatch
