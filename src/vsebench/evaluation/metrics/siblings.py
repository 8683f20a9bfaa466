"""Sibling precision at k: the number of held-out labels and their siblings among the first k labels, divided by k.

    (1/k) sum over the first k labels l of  max over held-out labels y of S[l, y]
    S[l, y] = 1 if l = y or l and y have a common parent, else 0

Labels with equal scores are ordered as in lists: wrong labels, including siblings, come first. The number is divided by
k even if the list has fewer than k labels.

Source: Weston, Bengio and Usunier, "Large scale image annotation", Machine Learning 81(1), 2010, with one label per
image; the maximum over several labels is our choice.
"""

import polars as pl

from vsebench.evaluation.metrics.base import ListMetric, within


class SiblingPrecision(ListMetric):
    """The share of correct labels and their siblings among the first k labels.

    If an image has one held-out label with s siblings, the value is at most min(k, 1 + s) / k.
    """

    def value(self) -> pl.Expr:
        return (within(self.cutoff) & pl.col("related")).sum() / pl.lit(self.cutoff)
