"""Mean ranks of the methods over data sets, with Nemenyi's critical difference.

Source: Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006: two methods differ if
their mean ranks over N data sets differ by more than CD = q sqrt(k (k + 1) / (6 N)), where q is the upper 5 % point of
the studentized range of k groups, with infinite degrees of freedom, divided by sqrt(2). Seeds and protocols of one data
set share its images, so they are no replicates: a metric is averaged over seeds, and ranks over protocols.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import polars as pl

from vsebench.core.tasks import Task

ALPHA = 0.05
TASK = ["dataset", "protocol"]


@dataclass(frozen=True)
class MeanRanks:
    """Methods from best to worst with their mean ranks (1 is best)."""

    methods: list[str]
    ranks: list[float]
    datasets: list[str]  # that the ranks are means over

    @cached_property
    def critical_difference(self) -> float:
        """The difference of mean ranks above which two methods differ."""
        from scipy.stats import studentized_range  # slow to import

        k = len(self.methods)
        q = float(studentized_range.ppf(1 - ALPHA, k, inf)) / sqrt(2)
        return q * sqrt(k * (k + 1) / (6 * len(self.datasets)))

    @property
    def groups(self) -> list[tuple[int, int]]:
        """The longest sequences (first, last) of methods that do not differ, of two methods or more."""
        groups: list[tuple[int, int]] = []
        for first, rank in enumerate(self.ranks):
            last = max(n for n, worse in enumerate(self.ranks) if worse - rank <= self.critical_difference)
            if last > first and (not groups or last > groups[-1][1]):
                groups.append((first, last))
        return groups


def common_methods(methods_of: Mapping[Task, Collection[str]]) -> tuple[frozenset[str], list[Task]] | None:
    """Return the methods to rank and the tasks that have all of them; None without two methods on two data sets.

    If tasks have different methods (such as those with image features), these are the methods and data sets with the
    most results in common.
    """
    method_sets = {task: frozenset(methods) for task, methods in methods_of.items()}
    choices = [
        (methods, [task for task in method_sets if methods <= method_sets[task]])
        for methods in dict.fromkeys(method_sets.values())
        if len(methods) > 1
    ]
    choices = [(methods, tasks) for methods, tasks in choices if len(_datasets(tasks)) > 1]
    return max(choices, key=lambda choice: len(choice[0]) * len(_datasets(choice[1])), default=None)


def mean_ranks(metrics: pl.DataFrame, metric: str, methods: Collection[str]) -> MeanRanks:
    """Rank `methods` by one metric on each task of `common_methods`; ties share their mean rank.

    `metrics` is the gathered table of metrics.
    """
    rows = metrics.filter(pl.col("metric") == metric, pl.col("method").is_in(list(methods)))
    by_task = rows.group_by(*TASK, maintain_order=True).agg(pl.col("method").unique())
    common = common_methods({Task(dataset, protocol): names for dataset, protocol, names in by_task.iter_rows()})
    assert common is not None, "see MeanRanksFigure.applies"
    ranked_methods, tasks = common
    means = (
        rows.filter(pl.col("method").is_in(list(ranked_methods))).group_by(*TASK, "method").agg(pl.col("value").mean())
    )
    kept = pl.DataFrame([(task.dataset, task.protocol) for task in tasks], schema=TASK, orient="row")
    ranked = means.join(kept, on=TASK, how="semi").with_columns(
        rank=pl.col("value").rank("average", descending=True).over(TASK)
    )
    by_dataset = ranked.group_by("dataset", "method").agg(pl.col("rank").mean())
    ranks = by_dataset.group_by("method").agg(pl.col("rank").mean()).sort("rank", "method")
    return MeanRanks(ranks["method"].to_list(), ranks["rank"].to_list(), _datasets(tasks))


def _datasets(tasks: Collection[Task]) -> list[str]:
    return list(dict.fromkeys(task.dataset for task in tasks))
