"""Recall at k of seen labels, recall at k of unseen labels, and the harmonic mean of the two recalls.

Seen and unseen labels are ranked together. Unseen labels are those on which the protocol trains no model. The recall of
seen labels, S, is the share of an image's seen held-out labels that are among the first k labels of the list, averaged
over the images with a seen held-out label. The recall of unseen labels, U, is defined in the same way. The harmonic
mean is H = 2 S U / (S + U). Ties count against a label, even ties between held-out labels.

Source of H: Xian, Schiele and Akata, "Zero-shot learning - the good, the bad and the ugly", CVPR 2017. In that paper,
images have one label, and S and U are means over labels. The definition of recall for images with several labels is our
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
    """The harmonic mean H of the recall of seen labels and the recall of unseen labels.

    H is 0 if both recalls are 0, and NaN if one of them is undefined.
    """

    def value(self, seen: Values, unseen: Values) -> Values:
        both = seen + unseen
        return np.divide(2 * seen * unseen, both, out=both.copy(), where=both != 0)
