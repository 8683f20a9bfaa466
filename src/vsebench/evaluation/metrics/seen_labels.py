"""Recall at k of seen labels, of unseen labels, and the harmonic mean of both; all labels share one ranking.

    S = mean, over images with seen held-out labels, of   (number of these among the first k labels) / (number of these)
    U = the same for unseen labels,    H = 2 S U / (S + U)

Unseen labels are those on which the protocol trains no model. Ties count against a label, even between held-out labels.

Source of H: Xian, Schiele and Akata, "Zero-shot learning - the good, the bad and the ugly", CVPR 2017, where images
have one label, and S and U are means over labels; the definition of recall for images with several labels is our
choice.
"""

import numpy as np

from vsebench.evaluation.metrics.base import SeenMetric, Values


class SeenRecall(SeenMetric):
    """Recall of seen labels, S."""

    def value(self, seen: Values, unseen: Values) -> Values:
        return seen


class UnseenRecall(SeenMetric):
    """Recall of unseen labels, U."""

    def value(self, seen: Values, unseen: Values) -> Values:
        return unseen


class HarmonicRecall(SeenMetric):
    """Harmonic mean of the recalls of seen and of unseen labels, H; 0 if both are 0, NaN if one is undefined."""

    def value(self, seen: Values, unseen: Values) -> Values:
        both = seen + unseen
        return np.divide(2 * seen * unseen, both, out=both.copy(), where=both != 0)
