"""Recall at k: the share of an image's held-out labels that are among the first k of the list."""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class Recall(RankMetric):
    """Hits / held-out labels; misses, which are no candidates, count among the held-out labels."""

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return within(self.cutoff).sum() / pl.len()


METRIC = Recall
