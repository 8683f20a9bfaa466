"""Reciprocal rank: 1 / the place of the first held-out label in the list; 0 if none is a candidate."""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric


class ReciprocalRank(RankMetric):
    """Its mean over images is the mean reciprocal rank. Ties count against the label."""

    takes_cutoff = "never"

    def value(self) -> pl.Expr:
        return (1 / pl.col("place").min().cast(pl.Float64)).fill_null(0.0)


METRIC = ReciprocalRank
