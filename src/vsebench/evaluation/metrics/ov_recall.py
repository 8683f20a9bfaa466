"""Overall recall: hits / right, all labels and images counted together.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 28.
"""

from vsebench.evaluation.metrics.base import SetMetric, Values, share


class OvRecall(SetMetric):
    """Every right label weighs the same."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return share(hits.sum(axis=-1), right.sum(axis=-1))


METRIC = OvRecall
