"""Precision at k: right labels among the first k of the list, divided by k, even where there are fewer candidates."""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class Precision(RankMetric):
    """Hits / k. An image with fewer than k held-out labels cannot reach 1."""

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return within(self.cutoff).sum() / pl.lit(self.cutoff)


METRIC = Precision
