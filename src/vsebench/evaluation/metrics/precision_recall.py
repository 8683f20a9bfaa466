"""Precision, recall and F1 of the first k labels of an image's list; "hits" are the held-out labels among these k.

Ties count against the label. Held-out labels that are excluded from the candidates (misses) are counted too.
"""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class Precision(RankMetric):
    """Hits / k, even if there are fewer than k candidates; below 1 for an image with fewer than k held-out labels."""

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return within(self.cutoff).sum() / pl.lit(self.cutoff)


class Recall(RankMetric):
    """Hits / held-out labels."""

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return within(self.cutoff).sum() / pl.len()


class F1(RankMetric):
    """The harmonic mean of precision and recall, 2 hits / (k + held-out labels).

    Its mean over images is the example-based F1 of sets of k labels, as defined in the multi-label literature.
    """

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return 2 * within(self.cutoff).sum() / (pl.lit(self.cutoff) + pl.len())


METRICS = {"precision": Precision, "recall": Recall, "f1": F1}
