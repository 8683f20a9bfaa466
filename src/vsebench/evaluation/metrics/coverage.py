"""Coverage: how far down the list one has to go to find all held-out labels; ties count against the labels.

It is the place of the last held-out label, or the length of the list if one of them is excluded from the candidates.
The same as scikit-learn's coverage_error.
"""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric


class Coverage(RankMetric):
    """Smaller is better."""

    takes_cutoff = "never"
    lower_is_better = True

    def value(self) -> pl.Expr:
        everything = pl.col("negatives").first() + pl.col("place").count()
        last = (pl.col("above") + pl.col("tied")).max() + pl.col("place").count()
        return pl.when(pl.col("place").has_nulls()).then(everything).otherwise(last).cast(pl.Float64)


METRIC = Coverage
