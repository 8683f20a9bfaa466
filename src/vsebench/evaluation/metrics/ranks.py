"""Metrics of the ranks of an image's held-out labels; a hit is a held-out label among the first k of the list.

Ties count against the label, except in the full AUC (without a cut-off). A held-out label that is not a candidate
(a miss) counts as a held-out label, but is never a hit.
"""

from math import inf

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class Precision(RankMetric):
    """The number of held-out labels among the first k labels of the list, divided by k.

    The divisor is k even if there are fewer than k candidates. An image with fewer than k held-out labels has a value
    below 1.
    """

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return within(self.cutoff).sum() / pl.lit(self.cutoff)


class Recall(RankMetric):
    """The share of an image's held-out labels that are among the first k labels of the list."""

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return within(self.cutoff).sum() / pl.len()


class F1(RankMetric):
    """The harmonic mean of precision and recall: 2 hits / (k + number of held-out labels).

    The mean over images is the example-based F1 of the multi-label literature if the first k labels are predicted.
    """

    takes_cutoff = "always"

    def value(self) -> pl.Expr:
        return 2 * within(self.cutoff).sum() / (pl.lit(self.cutoff) + pl.len())


class Mrr(RankMetric):
    """Reciprocal rank: 1 / the rank of the first held-out label, or 0 if no held-out label is a candidate."""

    takes_cutoff = "never"

    def value(self) -> pl.Expr:
        return (1 / pl.col("rank").min().cast(pl.Float64)).fill_null(0.0)


class OneError(RankMetric):
    """1 if the first label of the list is wrong, otherwise 0; smaller is better."""

    takes_cutoff = "never"
    lower_is_better = True

    def value(self) -> pl.Expr:
        return (pl.col("rank").min() > 1).fill_null(True).cast(pl.Float64)


class Coverage(RankMetric):
    """The rank of the last held-out label, or the number of candidates if there is a miss; smaller is better.

    This is scikit-learn's coverage_error.
    """

    takes_cutoff = "never"
    lower_is_better = True
    largest = inf
    counts_labels = True

    def value(self) -> pl.Expr:
        everything = pl.col("negatives").first() + pl.col("rank").count()
        last = (pl.col("above") + pl.col("tied")).max() + pl.col("rank").count()
        return pl.when(pl.col("rank").has_nulls()).then(everything).otherwise(last).cast(pl.Float64)


class Auc(RankMetric):
    """The share of pairs of a held-out label and a negative that are in the right order.

    Without a cut-off, ties and misses count one half. With a cut-off k, this is the AUC of a list that is cut at k: a
    held-out label after rank k counts one half, and ties count against the label. Programs of the LibRec family compute
    the AUC in this way, and both VSE papers report this cut AUC. The cut AUC cannot exceed (1 + recall@k) / 2 and must
    not be compared with the full AUC.
    """

    takes_cutoff = "optional"

    def value(self) -> pl.Expr:
        negatives = pl.max_horizontal(pl.col("negatives"), 1)
        if self.cutoff is None:
            return (1 - (pl.col("above") + pl.col("tied") / 2) / negatives).fill_null(0.5).mean()
        in_order = 1 - (pl.col("above") + pl.col("tied")) / negatives
        return pl.when(within(self.cutoff)).then(in_order).otherwise(0.5).mean()
