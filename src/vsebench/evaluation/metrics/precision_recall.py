"""Precision, recall and F1 of the first k labels of an image's list; "hits" are the held-out labels among them.

Ties count against the label. Held-out labels that are excluded from the candidates (misses) are counted too.
"""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class Precision(RankMetric):
    """Hits / k, even with fewer than k candidates; an image with fewer than k held-out labels cannot reach 1."""

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

    The mean over images is the example-based F1 of the multi-label literature for sets of k labels.
    """

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return 2 * within(self.cutoff).sum() / (pl.lit(self.cutoff) + pl.len())


METRICS = {"precision": Precision, "recall": Recall, "f1": F1}
