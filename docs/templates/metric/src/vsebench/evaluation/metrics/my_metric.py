"""my_metric: state here the formula and its source (paper, equation)."""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class MyMetric(RankMetric):
    """1 for an image with a held-out label among the first k of its list, else 0. Ties count against the label."""

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return within(self.cutoff).any().cast(pl.Float64)
