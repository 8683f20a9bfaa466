"""Normalised discounted cumulative gain: each hit at place p adds 1 / log2(1 + p), divided by the largest sum possible.

The largest sum has all held-out labels in front, cut at k. Source: Jarvelin and Kekalainen, ACM TOIS 20, 2002, with the
discount of trec_eval.
"""

import numpy as np
import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within

MOST_LABELS = 10_000


class Ndcg(RankMetric):
    """NDCG of an image with binary gains."""

    takes_cutoff = "optional"

    def value(self) -> pl.Expr:
        gain = 1 / (1 + pl.col("place").cast(pl.Float64)).log(2)
        n_right = pl.len() if self.cutoff is None else pl.min_horizontal(pl.len(), pl.lit(self.cutoff))
        ideal = pl.lit(IDEAL).gather(n_right.cast(pl.UInt32))
        return pl.when(within(self.cutoff)).then(gain).otherwise(0.0).sum() / ideal.first()


IDEAL = pl.Series(np.concatenate([[1.0], np.cumsum(1 / np.log2(1 + np.arange(1, MOST_LABELS + 1)))]))
METRIC = Ndcg
