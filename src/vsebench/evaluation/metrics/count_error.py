"""Count error: how many labels too many or too few are predicted for an image, |predicted - right|."""

import numpy as np

from vsebench.evaluation.metrics.base import ImageSetMetric, Values


class CountError(ImageSetMetric):
    """0 where the number of labels is right, whichever they are."""

    lower_is_better = True

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return np.abs(predicted - right)


METRIC = CountError
