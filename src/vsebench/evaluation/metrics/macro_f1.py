"""Macro F1: the mean over all labels of the F1 of a label, 2 hits / (predicted + right); 0 for a label with neither."""

from vsebench.evaluation.metrics.base import SetMetric, Values, mean_over_labels, share


class MacroF1(SetMetric):
    """Every label of the vocabulary weighs the same, including those without a test image."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return mean_over_labels(share(2 * hits, predicted + right))


METRIC = MacroF1
