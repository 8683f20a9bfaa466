"""Average precision and discounted gain: metrics of a whole list in which a hit counts the more, the earlier it is."""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class Map(RankMetric):
    """Mean average precision: the mean over an image's held-out labels of the precision at the label's rank.

    The precision at a label is right / (right + above + tied): ties with negatives count against it, and held-out
    labels with the same score count for each other. Without a cut-off this is the label ranking average precision
    (LRAP) of scikit-learn, except for images without a label, which are left out here. With a cut-off, labels after
    rank k add 0 and the sum is still divided by the number of held-out labels, as in trec_eval's map_cut.
    """

    takes_cutoff = "optional"

    def value(self) -> pl.Expr:
        precision = pl.col("right") / (pl.col("right") + pl.col("above") + pl.col("tied"))
        return pl.when(within(self.cutoff)).then(precision).otherwise(0.0).sum() / pl.len()


class Ndcg(RankMetric):
    """Normalised discounted cumulative gain: each hit at rank p adds 1 / log2(1 + p), divided by the largest sum.

    The largest sum has all held-out labels in front, cut at k. Source: Jarvelin and Kekalainen, ACM TOIS 20, 2002,
    with the discount of trec_eval.
    """

    takes_cutoff = "optional"

    def value(self) -> pl.Expr:
        gain = pl.when(within(self.cutoff)).then(discount(pl.col("rank"))).otherwise(0.0)
        best_rank = pl.int_range(1, pl.len() + 1)
        counted = pl.lit(True) if self.cutoff is None else best_rank <= self.cutoff
        best = pl.when(counted).then(discount(best_rank)).otherwise(0.0)
        return gain.sum() / best.sum()


def discount(rank: pl.Expr) -> pl.Expr:
    """Return what a hit at a rank, counted from 1, adds."""
    return 1 / (1 + rank.cast(pl.Float64)).log(2)


METRICS = {"map": Map, "ndcg": Ndcg}
