"""Metrics of an image's predicted label set: exact match, F1, wrong labels and set size, averaged over images."""

from math import inf

import numpy as np

from vsebench.evaluation.metrics.base import ImageSetMetric, Values, share


class ExactMatch(ImageSetMetric):
    """1 if the predicted set is the image's label set, else 0.

    The mean is the subset accuracy of scikit-learn. Source: Li, Song and Luo, "Improving pairwise ranking for
    multi-label image classification", CVPR 2017, the "0-1" score.
    """

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return np.where((hits == predicted) & (hits == right), 1.0, 0.0)


class ExampleF1(ImageSetMetric):
    """F1 of the predicted set: 2 hits / (predicted + right), or 1 if both sets are empty.

    Source: Godbole and Sarawagi, "Discriminative methods for multi-labeled classification", PAKDD 2004.
    """

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return np.where(predicted + right > 0, share(2 * hits, predicted + right), 1.0)


class CountError(ImageSetMetric):
    """The error in the number of labels, |predicted - right|."""

    lower_is_better = True
    largest = inf

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return np.abs(predicted - right)


class HammingDistance(ImageSetMetric):
    """The number of wrong labels: predicted but not right, or right but not predicted.

    Divided by the number of labels of the data set, it is the Hamming loss of scikit-learn. Source: Li, Song and Luo,
    "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 2.
    """

    lower_is_better = True
    largest = inf

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return predicted + right - 2 * hits


class SetSize(ImageSetMetric):
    """The number of predicted labels, to compare with the true number of labels; not a measure of quality."""

    is_quality = False
    largest = inf

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return predicted
