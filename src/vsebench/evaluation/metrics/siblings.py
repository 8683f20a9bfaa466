"""Sibling precision at k: the number of held-out labels and their siblings among the first k labels, divided by k.

The sibling precision of an image is

    (1/k) sum over the first k labels l of  max over held-out labels y of S[l, y],

where S[l, y] is 1 if l = y or if l and y have a common parent, and 0 otherwise. Among labels with equal scores, wrong
labels come first, and siblings of held-out labels count as wrong here. The divisor is k even if the list has fewer than
k labels.

Source: Weston, Bengio and Usunier, "Large scale image annotation", Machine Learning 81(1), 2010. In that paper, each
image has one label. The maximum over several labels is our choice.
"""

import polars as pl

from vsebench.evaluation.metrics.base import ListMetric, within


class SiblingPrecision(ListMetric):
    """The share of correct labels and their siblings among the first k labels.

    If an image has one held-out label with s siblings, the value is at most min(k, 1 + s) / k.
    """

    def value(self) -> pl.Expr:
        return (within(self.cutoff) & pl.col("related")).sum() / pl.lit(self.cutoff)
