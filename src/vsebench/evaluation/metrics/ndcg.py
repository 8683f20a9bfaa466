"""Normalised discounted cumulative gain: each hit at place p adds 1 / log2(1 + p), divided by the largest sum possible.

The largest sum has all held-out labels in front, cut at k. Source: Jarvelin and Kekalainen, ACM TOIS 20, 2002, with the
discount of trec_eval.
"""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class Ndcg(RankMetric):
    """NDCG of an image with binary gains."""

    takes_cutoff = "optional"

    def value(self) -> pl.Expr:
        gain = pl.when(within(self.cutoff)).then(discount(pl.col("place"))).otherwise(0.0)
        best_place = pl.int_range(1, pl.len() + 1)
        counted = pl.lit(True) if self.cutoff is None else best_place <= self.cutoff
        best = pl.when(counted).then(discount(best_place)).otherwise(0.0)
        return gain.sum() / best.sum()


def discount(place: pl.Expr) -> pl.Expr:
    """Return what a hit at a place, counted from 1, adds."""
    return 1 / (1 + place.cast(pl.Float64)).log(2)


METRIC = Ndcg
