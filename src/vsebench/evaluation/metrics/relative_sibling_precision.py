"""Relative sibling precision at k: sibling precision over the largest value that it could have for the image.

That value is min(k, m) / k, where m is the number of held-out labels and their siblings together, each counted once.
Labels that are excluded from the candidates count in m, so 1 can be out of reach where some are (protocols that leave
one label out).
"""

import polars as pl

from vsebench.evaluation.metrics.base import ListMetric, within


class RelativeSiblingPrecision(ListMetric):
    """Labels among the first k that are held-out labels or siblings of one, over min(k, m)."""

    def value(self) -> pl.Expr:
        found = (within(self.cutoff) & pl.col("related")).sum()
        return found / pl.min_horizontal(pl.lit(self.cutoff), pl.col("reachable").first())


METRIC = RelativeSiblingPrecision
