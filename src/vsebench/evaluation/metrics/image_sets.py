"""Metrics of an image's predicted label set: exact match, F1, wrong labels and set size, averaged over images."""

from math import inf

import numpy as np

from vsebench.evaluation.metrics.base import ImageSetMetric, Values, share


class ExactMatch(ImageSetMetric):
    """1 if the predicted set equals the image's label set, else 0.

    The mean over images is the subset accuracy of scikit-learn. Source: the "0-1" score in Li, Song and Luo, "Improving
    pairwise ranking for multi-label image classification", CVPR 2017.
    """

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return np.where((hits == predicted) & (hits == right), 1.0, 0.0)


class ExampleF1(ImageSetMetric):
    """F1 of the predicted set: 2 hits / (predicted + right).

    `hits` is the number of predicted labels that are correct, `predicted` the number of predicted labels, and `right`
    the number of the image's labels. If the image has no label and none is predicted, F1 is 1. Source: Godbole and
    Sarawagi, "Discriminative methods for multi-labeled classification", PAKDD 2004.
    """

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return np.where(predicted + right > 0, share(2 * hits, predicted + right), 1.0)


class CountError(ImageSetMetric):
    """The absolute difference between the number of predicted labels and the number of the image's labels."""

    lower_is_better = True
    largest = inf
    counts_labels = True

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return np.abs(predicted - right)


class HammingDistance(ImageSetMetric):
    """The number of wrong labels: labels that are predicted but not right, or right but not predicted.

    This number, divided by the number of labels of the data set, is the Hamming loss of scikit-learn. Source: Li, Song
    and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 2.
    """

    lower_is_better = True
    largest = inf
    counts_labels = True

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return predicted + right - 2 * hits


class SetSize(ImageSetMetric):
    """The number of predicted labels, for comparison with the number of true labels; it does not measure quality."""

    is_quality = False
    largest = inf
    counts_labels = True

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return predicted
