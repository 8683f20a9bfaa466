"""Per-class precision: the mean over all labels of hits / predicted; 0 for a label that is never predicted.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 27.
"""

from vsebench.evaluation.metrics.base import SetMetric, Values, mean_over_labels, share


class PcPrecision(SetMetric):
    """Every label of the vocabulary weighs the same, including those without a test image."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return mean_over_labels(share(hits, predicted))


METRIC = PcPrecision
