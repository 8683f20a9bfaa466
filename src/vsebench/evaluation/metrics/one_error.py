"""One-error: 1 if the first label of the list is wrong, 0 if it is right; ties count against the right label."""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric


class OneError(RankMetric):
    """Smaller is better."""

    takes_cutoff = "never"
    lower_is_better = True

    def value(self) -> pl.Expr:
        return (pl.col("place").min() > 1).fill_null(True).cast(pl.Float64)


METRIC = OneError
