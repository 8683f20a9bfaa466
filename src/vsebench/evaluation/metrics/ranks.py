"""Metrics computed from the rank of an image's first or last held-out label; ties count against the label."""

from math import inf

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric


class ReciprocalRank(RankMetric):
    """1 / the rank of the first held-out label, or 0 if no held-out label is a candidate."""

    takes_cutoff = "never"

    def value(self) -> pl.Expr:
        return (1 / pl.col("rank").min().cast(pl.Float64)).fill_null(0.0)


class OneError(RankMetric):
    """1 if the first label of the list is wrong, otherwise 0; smaller is better."""

    takes_cutoff = "never"
    lower_is_better = True

    def value(self) -> pl.Expr:
        return (pl.col("rank").min() > 1).fill_null(True).cast(pl.Float64)


class Coverage(RankMetric):
    """The rank of the last held-out label, or the length of the list if there is a miss; smaller is better.

    This is scikit-learn's coverage_error.
    """

    takes_cutoff = "never"
    lower_is_better = True
    largest = inf

    def value(self) -> pl.Expr:
        everything = pl.col("negatives").first() + pl.col("rank").count()
        last = (pl.col("above") + pl.col("tied")).max() + pl.col("rank").count()
        return pl.when(pl.col("rank").has_nulls()).then(everything).otherwise(last).cast(pl.Float64)


METRICS = {"mrr": ReciprocalRank, "one_error": OneError, "coverage": Coverage}
