"""Recall at k: the share of an image's held-out labels that are among the first k of the list."""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class Recall(RankMetric):
    """Hits / held-out labels, which include those that are excluded from the candidates (misses)."""

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return within(self.cutoff).sum() / pl.len()


METRIC = Recall
