"""F1 at k of an image: the harmonic mean of precision and recall at k, 2 hits / (k + held-out labels)."""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class F1(RankMetric):
    """The mean over images is the F1 by example of the multi-label literature, for sets of k labels."""

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return 2 * within(self.cutoff).sum() / (pl.lit(self.cutoff) + pl.len())


METRIC = F1
