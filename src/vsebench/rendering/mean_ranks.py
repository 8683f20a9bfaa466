"""Mean ranks of the methods over data sets and seeds, with Nemenyi's critical difference.

Source: Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006: two methods differ if
their mean ranks over N blocks differ by more than CD = q sqrt(k (k + 1) / (6 N)), where q is the upper 5 % point of the
studentized range of k groups, with infinite degrees of freedom, divided by sqrt(2). A block is a data set with a
protocol and a seed. Seeds of one data set share images, so the blocks are not independent and CD is a lower bound.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import polars as pl

ALPHA = 0.05
BLOCK = ["dataset", "protocol", "seed"]


@dataclass(frozen=True)
class MeanRanks:
    """Methods from best to worst with their mean ranks (1 is best), over a number of blocks."""

    methods: list[str]
    ranks: list[float]
    blocks: int

    @cached_property
    def critical_difference(self) -> float:
        """The difference of mean ranks above which two methods differ."""
        from scipy.stats import studentized_range  # slow to import

        k = len(self.methods)
        q = float(studentized_range.ppf(1 - ALPHA, k, inf)) / sqrt(2)
        return q * sqrt(k * (k + 1) / (6 * self.blocks))

    @property
    def groups(self) -> list[tuple[int, int]]:
        """The longest sequences (first, last) of methods that do not differ, of two methods or more."""
        groups: list[tuple[int, int]] = []
        for first, rank in enumerate(self.ranks):
            last = max(n for n, worse in enumerate(self.ranks) if worse - rank <= self.critical_difference)
            if last > first and (not groups or last > groups[-1][1]):
                groups.append((first, last))
        return groups


def mean_ranks(metrics: pl.DataFrame, metric: str, methods: Collection[str]) -> MeanRanks | str:
    """Rank `methods` in each block by one metric; if that is impossible, return the reason as a text.

    If tasks have different methods (such as those with image features), the ranks are over the methods and blocks with
    the most results in common. Ties share their mean rank. `metrics` is the gathered table of metrics.
    """
    rows = metrics.filter(pl.col("metric") == metric, pl.col("method").is_in(list(methods)))
    blocks = rows.group_by(BLOCK, maintain_order=True).agg(pl.col("method"))
    method_sets = [frozenset(methods_of_block) for methods_of_block in blocks["method"].to_list()]
    if len(method_sets) < 2:
        return "Mean ranks need two data sets or two seeds; this run has only one of each"
    blocks_with = {chosen: sum(map(chosen.issubset, method_sets)) for chosen in dict.fromkeys(method_sets)}
    blocks_with = {chosen: number for chosen, number in blocks_with.items() if number > 1 and len(chosen) > 1}
    if not blocks_with:
        return "Mean ranks need two methods that were run on the same two data sets, or with two seeds"
    chosen = max(blocks_with, key=lambda method_set: len(method_set) * blocks_with[method_set])
    rows = rows.filter(pl.col("method").is_in(list(chosen)))
    rows = rows.filter(pl.len().over(BLOCK) == len(chosen))
    ranked = rows.with_columns(rank=pl.col("value").rank("average", descending=True).over(BLOCK))
    means = ranked.group_by("method").agg(pl.col("rank").mean()).sort("rank", "method")
    return MeanRanks(means["method"].to_list(), means["rank"].to_list(), blocks_with[chosen])
