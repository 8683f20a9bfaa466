"""Set size: the number of labels that are predicted for an image. It says how a decision was made, not how well."""

from vsebench.evaluation.metrics.base import ImageSetMetric, Values


class SetSize(ImageSetMetric):
    """The mean is to be compared with the mean number of labels of an image."""

    is_quality = False

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return predicted


METRIC = SetSize
