"""Overall precision: hits / predicted, all labels and images counted together; 0 if nothing is predicted.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 28.
"""

from vsebench.evaluation.metrics.base import SetMetric, Values, share


class OvPrecision(SetMetric):
    """Every predicted label weighs the same."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return share(hits.sum(axis=-1), predicted.sum(axis=-1))


METRIC = OvPrecision
