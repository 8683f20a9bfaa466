"""Precision and NDCG in which rare labels count more, as a share of the best possible value (`PropensityMetric`).

These are the metrics of the Extreme Classification Repository (Bhatia and others, 2016), which lists the settings A and
B of the propensities for its data sets. Source of both metrics: Jain, Prabhu and Varma, "Extreme multi-label loss
functions for recommendation, tagging, ranking and other missing label applications", KDD 2016. Suppose that images lack
some of their labels: a label with the propensity p is missing with the probability 1 - p. Then the sum of the hits'
weights is an unbiased estimate of the number of hits that the complete label sets would give.
"""

import polars as pl

from vsebench.evaluation.metrics.base import PropensityMetric, best_gain, discount, within


class Psp(PropensityMetric):
    """Propensity-scored precision: (sum of the hits' weights) / k, as a share of the best possible value."""

    def value(self) -> pl.Expr:
        return pl.col("weight").filter(within(self.cutoff)).sum() / pl.lit(self.cutoff)


class Psndcg(PropensityMetric):
    """Propensity-scored NDCG: the sum of weight / log2(1 + r) over hits at ranks r, divided by the best possible sum.

    Both sums of an image are first divided by the largest sum that the image could have if all weights were 1, so that
    images with many labels do not count more. The program of the Extreme Classification Repository does the same.
    """

    def value(self) -> pl.Expr:
        gain = pl.col("weight") * discount(pl.col("rank"))
        return gain.filter(within(self.cutoff)).sum() / best_gain(self.cutoff)
