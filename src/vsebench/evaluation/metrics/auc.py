"""Area under the ROC curve."""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class Auc(RankMetric):
    """The share of pairs of a held-out label and a negative that are in the right order.

    Without a cut-off, ties and misses count one half. With a cut-off k, it is the AUC of a list that is cut at k, as
    LibRec and related evaluators compute it and both VSE papers print it: a label after rank k counts one half, and
    ties count against the label. The cut AUC cannot exceed (1 + recall@k) / 2 and must not be compared with the full
    AUC.
    """

    takes_cutoff = "optional"

    def value(self) -> pl.Expr:
        negatives = pl.max_horizontal(pl.col("negatives"), 1)
        if self.cutoff is None:
            return (1 - (pl.col("above") + pl.col("tied") / 2) / negatives).fill_null(0.5).mean()
        in_order = 1 - (pl.col("above") + pl.col("tied")) / negatives
        return pl.when(within(self.cutoff)).then(in_order).otherwise(0.5).mean()


METRICS = {"auc": Auc}
