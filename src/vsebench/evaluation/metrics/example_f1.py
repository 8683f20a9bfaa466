"""Example F1: 2 hits / (predicted + right) of an image's label set; 1 where both sets are empty.

Source: Godbole and Sarawagi, "Discriminative methods for multi-labeled classification", PAKDD 2004.
"""

import numpy as np

from vsebench.evaluation.metrics.base import ImageSetMetric, Values, share


class ExampleF1(ImageSetMetric):
    """Every image weighs the same."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return np.where(predicted + right > 0, share(2 * hits, predicted + right), 1.0)


METRIC = ExampleF1
