"""Sibling precision at k: labels among the first k of the list that are held-out labels or siblings of one, over k.

    (1/k) sum over the first k labels l of  max over held-out labels y of S[l, y]
    S[l, y] = 1 if l = y or l and y have a common parent, else 0

Ties are ordered as in lists: wrong labels first, siblings of right ones among them. A list with fewer than k labels is
divided by k as well.

Source: Weston, Bengio and Usunier, "Large scale image annotation", Machine Learning 81(1), 2010, with one label per
image; the largest value over several labels is a choice made here.
"""

import polars as pl

from vsebench.evaluation.metrics.base import ListMetric, within


class SiblingPrecision(ListMetric):
    """A label with s siblings cannot reach more than min(k, 1 + s) / k."""

    def value(self) -> pl.Expr:
        return (within(self.cutoff) & pl.col("related")).sum() / pl.lit(self.cutoff)


METRICS = {"sibling_precision": SiblingPrecision}
