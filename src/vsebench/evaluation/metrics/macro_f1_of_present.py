"""Macro F1 of the labels that occur: the mean of 2 hits / (predicted + right) over labels with a test image.

Papers differ in whether labels without a test image count, as 0, in macro F1 (`macro_f1` counts them).
"""

import numpy as np

from vsebench.evaluation.metrics.base import SetMetric, Values, share


class MacroF1OfPresent(SetMetric):
    """Every label with a test image weighs the same."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        f1 = share(2 * hits, predicted + right)
        return share(f1.sum(axis=-1, where=right > 0), np.count_nonzero(right, axis=-1).astype(float))


METRIC = MacroF1OfPresent
