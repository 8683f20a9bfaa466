"""Mean ranks of the methods over data sets and seeds, with Nemenyi's critical difference.

Source: Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006: two methods differ if
their mean ranks over N blocks differ by more than CD = q sqrt(k (k + 1) / (6 N)), q from his Table 5 (alpha = 0.05).
A block is a data set with a protocol and a seed. Seeds of one data set share images, so the blocks are not independent
and the difference is a lower bound.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vsebench.core.places import CEILING
from vsebench.rendering.results import Metric, Results, metric_title
from vsebench.rendering.style import DOUBLE

METRIC: Metric = ("ndcg", 10)
# Studentized range at 0.05 over sqrt(2), for 2, 3, ... methods.
NEMENYI = (
    1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164, 3.219, 3.268, 3.313, 3.354, 3.391, 3.426, 3.458,
    3.489, 3.517, 3.544,
)  # fmt: skip


@dataclass(frozen=True)
class MeanRanks:
    """Methods from best to worst with their mean ranks (1 is best), over so many blocks."""

    methods: list[str]
    ranks: list[float]
    blocks: int

    @property
    def critical_difference(self) -> float:
        k = len(self.methods)
        return float(NEMENYI[k - 2] * np.sqrt(k * (k + 1) / (6 * self.blocks)))

    @property
    def groups(self) -> list[tuple[int, int]]:
        """The longest runs (first, last) of methods that do not differ; single methods are left out."""
        found: list[tuple[int, int]] = []
        for first, rank in enumerate(self.ranks):
            last = max(n for n, other in enumerate(self.ranks) if other - rank <= self.critical_difference)
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found


def mean_ranks(metrics: pl.DataFrame) -> MeanRanks | None:
    """Rank the methods in each block by one metric; None where there are too few methods or blocks.

    Methods that are not in every block are left out, and so is the ceiling; ties share their mean rank.
    """
    name, cutoff = METRIC
    rows = metrics.filter(pl.col("metric") == name, pl.col("cutoff") == cutoff, pl.col("method") != CEILING)
    block = ["dataset", "protocol", "seed"]
    n_blocks = rows.select(block).n_unique()
    rows = rows.filter(pl.len().over("method") == n_blocks)
    methods = rows["method"].n_unique()
    if n_blocks < 2 or not 2 <= methods <= len(NEMENYI) + 1:
        return None
    ranked = rows.with_columns(rank=pl.col("value").rank("average", descending=True).over(block))
    means = ranked.group_by("method").agg(pl.col("rank").mean()).sort("rank", "method")
    return MeanRanks(means["method"].to_list(), means["rank"].to_list(), n_blocks)


def mean_ranks_figure(results: Results) -> Figure | None:
    """Draw the critical-difference diagram: an axis of mean ranks, names at its sides, bars over equals."""
    found = mean_ranks(results.metrics)
    if found is None:
        return None
    k = len(found.methods)
    half = -(-k // 2)
    groups = found.groups
    height = 0.75 + 0.17 * half + 0.07 * len(groups)
    figure = Figure(figsize=(DOUBLE, height))
    axis = figure.subplots()
    axis.set_axis_off()
    width = k - 1
    axis.set_xlim(1 - 0.42 * width, k + 0.42 * width)
    axis.set_ylim(-(1.2 + 0.45 * len(groups) + half), 2.6)
    axis.set_title(f"{metric_title(METRIC)}, {found.blocks} blocks{simulated_share(results)}")
    draw_axis(axis, k, found.critical_difference)
    for n, (first, last) in enumerate(groups):
        low, high = found.ranks[first] - 0.02 * width, found.ranks[last] + 0.02 * width
        axis.plot([low, high], [-0.4 - 0.45 * n] * 2, color="black", linewidth=2.4, solid_capstyle="butt")
    for place, (method, rank) in enumerate(zip(found.methods, found.ranks, strict=True)):
        left = place < half
        y = -(1.0 + 0.45 * len(groups)) - (place if left else k - 1 - place)
        edge = 1 - 0.03 * width if left else k + 0.03 * width
        axis.plot([rank, rank, edge], [0, y, y], color="0.35", linewidth=0.7)
        text = f"{results.method_title(method)}  {rank:.2f}" if left else f"{rank:.2f}  {results.method_title(method)}"
        axis.text(edge + (-0.01 if left else 0.01) * width, y, text, ha="right" if left else "left", va="center")
    return figure


def simulated_share(results: Results) -> str:
    """Say how much of the data is simulated."""
    simulated = [results.is_simulated(dataset) for dataset in results.metrics["dataset"].unique()]
    return "" if not any(simulated) else ", all data simulated" if all(simulated) else ", part of the data simulated"


def draw_axis(axis: Axes, k: int, difference: float) -> None:
    """Draw the axis of ranks, and the critical difference above it."""
    axis.plot([1, k], [0, 0], color="black", linewidth=0.8)
    for rank in range(1, k + 1):
        axis.plot([rank, rank], [0, 0.25], color="black", linewidth=0.8)
        axis.text(rank, 0.4, str(rank), ha="center", va="bottom")
    axis.plot([1, 1 + difference], [1.7, 1.7], color="black", linewidth=1.2, marker="|", markersize=5)
    axis.text(1 + difference / 2, 1.85, f"critical difference {difference:.2f}", ha="center", va="bottom")
