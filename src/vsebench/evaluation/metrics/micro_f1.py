"""Micro (overall) F1: 2 hits / (predicted + right), all labels and images counted together."""

from vsebench.evaluation.metrics.base import SetMetric, Values, share


class MicroF1(SetMetric):
    """Every predicted and every right label weighs the same."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return share(2 * hits.sum(axis=-1), predicted.sum(axis=-1) + right.sum(axis=-1))


METRIC = MicroF1
