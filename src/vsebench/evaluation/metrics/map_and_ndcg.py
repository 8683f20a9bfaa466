"""Average precision and discounted gain: metrics of a list in which earlier hits count more."""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, best_gain, discount, within


class Map(RankMetric):
    """Mean average precision: the mean of the precision at the ranks of an image's held-out labels.

    The precision at a label's rank is right / (right + above + tied). Here, `right` is the number of held-out labels
    that score at least as high as the label, including the label itself. `above` is the number of negatives that score
    higher, and `tied` is the number of negatives that score the same. Without a cut-off, this is the label ranking
    average precision (LRAP) of scikit-learn, except that images without a label are left out. With a cut-off k, labels
    after rank k add 0, but the sum is still divided by the number of held-out labels, as in trec_eval's map_cut.
    """

    takes_cutoff = "optional"

    def value(self) -> pl.Expr:
        precision = pl.col("right") / (pl.col("right") + pl.col("above") + pl.col("tied"))
        return pl.when(within(self.cutoff)).then(precision).otherwise(0.0).sum() / pl.len()


class Ndcg(RankMetric):
    """Normalised discounted cumulative gain: the sum of 1 / log2(1 + p) over hits at ranks p, divided by its maximum.

    The maximum is the sum with all held-out labels at the top. With a cut-off k, both sums contain only ranks up to k.
    Source: Jarvelin and Kekalainen, ACM TOIS 20, 2002; the discount is as in trec_eval.
    """

    takes_cutoff = "optional"

    def value(self) -> pl.Expr:
        gain = pl.when(within(self.cutoff)).then(discount(pl.col("rank"))).otherwise(0.0)
        return gain.sum() / best_gain(self.cutoff)
