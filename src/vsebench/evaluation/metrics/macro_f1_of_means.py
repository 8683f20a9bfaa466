"""The F1 of per-class precision and per-class recall, 2 P R / (P + R): other than `macro_f1`, and never smaller.

Source: Makadia, Pavlovic and Kumar, "A new baseline for image annotation", ECCV 2008, as LEAR and FastTag print it.
"""

from vsebench.evaluation.metrics.base import SetMetric, Values, mean_over_labels, share


class MacroF1OfMeans(SetMetric):
    """Every label of the vocabulary weighs the same, including those without a test image."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        precision, recall = mean_over_labels(share(hits, predicted)), mean_over_labels(share(hits, right))
        return share(2 * precision * recall, precision + recall)


METRIC = MacroF1OfMeans
