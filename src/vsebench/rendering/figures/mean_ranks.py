"""Critical-difference diagram: the methods' mean ranks over data sets, with Nemenyi's critical difference.

If k methods are ranked on N data sets, two of them differ significantly if the difference of their mean ranks is larger
than the critical difference CD = q sqrt(k (k + 1) / (6 N)). Here, sqrt(2) q is the upper 5 % point of the studentized
range of k groups with infinite degrees of freedom. Source: Demsar, "Statistical Comparisons of Classifiers over
Multiple Data Sets", JMLR 7, 2006.

Results of several seeds or protocols on one data set use the same images, so they are not independent replicates.
Therefore, a metric is averaged over seeds, and ranks are averaged over protocols.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import pi, sqrt

import numpy as np
import polars as pl

from vsebench.core.tasks import Task
from vsebench.evaluation.metrics.base import load_metric
from vsebench.rendering.kinds import Axes, Figure, FigureKind
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results

METRIC = "ndcg@10"  # used if the run has it, otherwise the headline metric
ALPHA = 0.05
TASK = ["dataset", "protocol"]
NUMBERED = 20  # with more methods, only some ranks on the axis are numbered


class MeanRanks(FigureKind):
    """A diagram of the methods' mean ranks, in which bars join methods that do not differ significantly."""

    needs = ("metrics", "datasets")
    made_for = "run"
    section = "overview"
    position = 3

    def applies(self, outline: Outline) -> bool:
        return can_differ({task: outline.competitors(task) for task in outline.tasks})

    def is_empty(self, results: Results) -> bool:
        return not can_differ(methods_by_task(metrics_ranked(results)))

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        metric, ranking = ranked_by(results), ranking_of(results)
        bars, half = len(ranking.groups), -(-len(ranking.methods) // 2)
        figure, (axis,) = drawing.panels(1, style.DOUBLE, 0.75 + 0.17 * half + 0.07 * bars)
        share = drawing.simulated_share(results, ranking.datasets)
        axis.set_title(f"{metric_title(metric)}, {len(ranking.datasets)} data sets{share}")
        tasks = results.tasks_of(results.metrics)
        draw_diagram(axis, ranking, [results.method_title(method, *tasks, short=True) for method in ranking.methods])
        return figure

    def caption(self, results: Results) -> str:
        datasets = "; ".join(map(results.dataset_title, ranking_of(results).datasets))
        return (
            f"Mean rank of each method in {metric_title(ranked_by(results))} (mean over seeds) over {datasets}; 1 is "
            "best. A bar joins methods whose mean ranks differ by less than Nemenyi's critical difference (alpha "
            "0.05). Ranks are first averaged over the protocols of a data set. Data sets that lack one of these "
            "methods are left out."
        )

    def alternative(self, results: Results) -> str:
        ranking = ranking_of(results)
        ranks = zip(ranking.methods, ranking.ranks, strict=True)
        names = ", ".join(f"{results.method_title(method)} {rank:.2f}" for method, rank in ranks)
        return (
            "An axis of mean ranks, with bars that join methods whose ranks do not differ significantly. Mean ranks: "
            f"{names}."
        )


@dataclass(frozen=True)
class Ranking:
    """The methods and their mean ranks, sorted from the best rank (1 is best) to the worst."""

    methods: list[str]
    ranks: list[float]
    datasets: list[str]  # the data sets over which the ranks are means

    @cached_property
    def critical_difference(self) -> float:
        return critical_difference(len(self.methods), len(self.datasets))

    @property
    def groups(self) -> list[tuple[int, int]]:
        """The groups of methods that count as equal, as pairs (first, last) of positions in `methods`.

        A group has at least two methods, and the mean ranks of its first and last method differ by at most the critical
        difference. Groups that are part of a larger group are left out.
        """
        groups: list[tuple[int, int]] = []
        for first, rank in enumerate(self.ranks):
            last = max(n for n, worse in enumerate(self.ranks) if worse - rank <= self.critical_difference)
            if last > first and (not groups or last > groups[-1][1]):
                groups.append((first, last))
        return groups


def critical_difference(k: int, n_datasets: int) -> float:
    """Return the largest difference of mean ranks with which two of `k` methods still count as equal."""
    return range_quantile(k) / sqrt(2) * sqrt(k * (k + 1) / (6 * n_datasets))


def range_quantile(k: int) -> float:
    """Return the upper 5 % point of the range of `k` independent standard normal numbers.

    Let z be the largest number. The range is below q if the other k - 1 numbers are between z - q and z. `scipy.stats`
    also has this distribution, but importing that module would delay the planning of every run by a second.

    >>> round(range_quantile(3), 3)
    3.314
    """
    from scipy.special import ndtr

    z = np.linspace(-9, 9, 1001)
    density = np.exp(-(z**2) / 2) / sqrt(2 * pi) * (z[1] - z[0])
    low, high = 0.0, 18.0
    for _ in range(50):
        q = (low + high) / 2
        below = k * float(density @ (ndtr(z) - ndtr(z - q)) ** (k - 1))
        low, high = (q, high) if below < 1 - ALPHA else (low, q)
    return (low + high) / 2


def can_differ(methods_of: Mapping[Task, Collection[str]]) -> bool:
    """Return whether mean ranks can differ significantly, given the methods of each task.

    The largest possible difference is k - 1 for k methods. The result is True if this is more than the critical
    difference, and False if there are no methods to rank (see `common_methods`).
    """
    common = common_methods(methods_of)
    if common is None:
        return False
    methods, tasks = common
    return critical_difference(len(methods), len(_datasets(tasks))) < len(methods) - 1


def common_methods(methods_of: Mapping[Task, Collection[str]]) -> tuple[frozenset[str], list[Task]] | None:
    """Return the methods to rank and the tasks that have all of them, or None if there are no such methods.

    The methods are all methods of one task. There must be at least two of them, and at least two data sets that have
    them all. Tasks can have different methods, for example because only some tasks have image features. Then the task
    is chosen for which the number of methods times the number of data sets that have them all is largest.
    """
    method_sets = {task: frozenset(methods) for task, methods in methods_of.items()}
    choices = [
        (methods, [task for task in method_sets if methods <= method_sets[task]])
        for methods in dict.fromkeys(method_sets.values())
        if len(methods) > 1
    ]
    choices = [(methods, tasks) for methods, tasks in choices if len(_datasets(tasks)) > 1]
    return max(choices, key=lambda choice: len(choice[0]) * len(_datasets(choice[1])), default=None)


def mean_ranks(rows: pl.DataFrame) -> Ranking:
    """Return the mean ranks over data sets of the methods that `common_methods` chooses.

    On each task, the methods are ranked by their means over seeds, and methods with equal means share their mean rank.
    The ranks are then averaged over the protocols of each data set, and after that over data sets. `rows` contains the
    values of the metric by which the methods are ranked, from the table of metrics.
    """
    common = common_methods(methods_by_task(rows))
    assert common is not None, "see MeanRanks.is_empty"
    ranked_methods, tasks = common
    means = (
        rows.filter(pl.col("method").is_in(list(ranked_methods))).group_by(*TASK, "method").agg(pl.col("value").mean())
    )
    kept = pl.DataFrame([(task.dataset, task.protocol) for task in tasks], schema=TASK, orient="row")
    sign = load_metric(rows["metric"][0]).sign
    ranked = means.join(kept, on=TASK, how="semi").with_columns(
        rank=(sign * pl.col("value")).rank("average", descending=True).over(TASK)
    )
    by_dataset = ranked.group_by("dataset", "method").agg(pl.col("rank").mean())
    ranks = by_dataset.group_by("method").agg(pl.col("rank").mean()).sort("rank", "method")
    return Ranking(ranks["method"].to_list(), ranks["rank"].to_list(), _datasets(tasks))


def methods_by_task(rows: pl.DataFrame) -> dict[Task, list[str]]:
    """Return the names of each task's methods in a table of metrics."""
    by_task = rows.group_by(*TASK, maintain_order=True).agg(pl.col("method").unique())
    return {Task(dataset, protocol): methods for dataset, protocol, methods in by_task.iter_rows()}


def _datasets(tasks: Collection[Task]) -> list[str]:
    return list(dict.fromkeys(task.dataset for task in tasks))


def ranking_of(results: Results) -> Ranking:
    """Return the mean ranks of a run's methods, without oracles."""
    return mean_ranks(metrics_ranked(results))


def metrics_ranked(results: Results) -> pl.DataFrame:
    """Return the values from which the mean ranks are computed, as rows of the table of metrics.

    These are the values of the metric `ranked_by` for all methods except oracles, on all tasks and with all seeds.
    """
    competitors = results.competitors_of(results.metrics)
    return results.metrics.filter(pl.col("metric") == ranked_by(results), pl.col("method").is_in(competitors))


def ranked_by(results: Results) -> str:
    """Return the metric by which the methods are ranked."""
    metrics = results.outline.metrics
    return METRIC if METRIC in metrics else few_metrics(metrics)[0]


def draw_diagram(axis: Axes, ranking: Ranking, titles: list[str]) -> None:
    """Draw the axis, the bars and the names, with the better half of the methods on the left."""
    k, bars = len(titles), len(ranking.groups)
    half, width = -(-k // 2), k - 1
    axis.set_axis_off()
    axis.set_xlim(1 - 0.42 * width, k + 0.42 * width)
    axis.set_ylim(-(1.2 + 0.45 * bars + half), 2.6)
    draw_axis(axis, k, ranking.critical_difference)
    for n, (first, last) in enumerate(ranking.groups):
        low, high = ranking.ranks[first] - 0.02 * width, ranking.ranks[last] + 0.02 * width
        axis.plot([low, high], [-0.4 - 0.45 * n] * 2, color="black", linewidth=2.4, solid_capstyle="butt")
    for index, (title, rank) in enumerate(zip(titles, ranking.ranks, strict=True)):
        left = index < half
        y = -(1.0 + 0.45 * bars) - (index if left else k - 1 - index)
        edge = 1 - 0.03 * width if left else k + 0.03 * width
        axis.plot([rank, rank, edge], [0, y, y], color="0.35", linewidth=0.7)
        text = f"{title}  {rank:.2f}" if left else f"{rank:.2f}  {title}"
        axis.text(edge + (-0.01 if left else 0.01) * width, y, text, ha="right" if left else "left", va="center")


def draw_axis(axis: Axes, k: int, difference: float) -> None:
    """Draw the axis of ranks, and the critical difference above it."""
    axis.plot([1, k], [0, 0], color="black", linewidth=0.8)
    step = 1 if k <= NUMBERED else 5 * -(-k // 60)  # so that numbers do not touch
    for rank in range(1, k + 1):
        axis.plot([rank, rank], [0, 0.25], color="black", linewidth=0.8)
        if rank == 1 or rank % step == 0:
            axis.text(rank, 0.4, str(rank), ha="center", va="bottom")
    axis.plot([1, 1 + difference], [1.7, 1.7], color="black", linewidth=1.2, marker="|", markersize=5)
    axis.text(1 + difference / 2, 1.85, f"critical difference {difference:.2f}", ha="center", va="bottom")
