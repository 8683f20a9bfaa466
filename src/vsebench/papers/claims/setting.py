"""Claims about a setting: models with two values of the setting are compared over images and seeds."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.core.tasks import Task
from vsebench.papers.claim import AtTasks, Bounds, ClaimCase, differences_of, in_words
from vsebench.papers.evidence import (
    Evidence,
    Measurement,
    MetricName,
    UntestableError,
    Values,
    interval,
    metric_difference,
    metric_of_both,
    stopped_by,
)


class TwoValues(AtTasks):
    """A test that compares two values of a setting, which the run must vary (key `sweeps`)."""

    parameter: str  # the setting
    metric: MetricName

    @abstractmethod
    def values(self, evidence: Evidence, case: ClaimCase) -> list[float]:
        """Return the two values of the setting that are compared.

        The effect is the improvement of the metric from the second value to the first, or the ratio of the two metrics.
        """

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        return metric_difference(*self.ranks_of_values(evidence, case), self.metric, evidence.resamples)

    def possible(self, measured: str) -> tuple[float, float]:
        return differences_of(measured)

    def ranks_of_values(self, evidence: Evidence, case: ClaimCase) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
        """Return the tables RANKS for the first value and those for the second value, one table per seed."""
        values = self.values(evidence, case)
        tables = [evidence.read_sweep_ranks(each, self.parameter) for each in evidence.cases(case.task, self.method)]
        ours, theirs = ([table.filter(pl.col("value") == value) for table in tables] for value in values)
        return ours, theirs

    def sweep(self, evidence: Evidence, task: Task) -> pl.DataFrame:
        """Return the rows of SWEEPS for the method's setting on a task; empty if the run does not vary the setting."""
        if evidence.sweeps is None:
            return pl.DataFrame()
        keys = {"dataset": task.dataset, "protocol": task.protocol, "method": self.method}
        return evidence.sweeps.filter(**keys, parameter=self.parameter)

    def best_value(self, evidence: Evidence, task: Task, bounds: Bounds) -> float:
        """Return the value within `bounds` that has the best mean validation metric (function `best_value`)."""
        sweep = self.sweep(evidence, task).filter(metric=self.metric)
        return best_value(sweep, bounds, n_seeds=len(evidence.cases(task, self.method)))

    def remark(self, evidence: Evidence, case: ClaimCase) -> str | None:
        """Return a sentence for each of the two values with which a limit stopped a fit; None if no fit was stopped."""
        stopped = self.sweep(evidence, case.task).filter("at_limit")
        limit = "iterations" if stopped["epochs"].null_count() else "epochs"
        sentences = []
        for value in dict.fromkeys(self.values(evidence, case)):
            seeds = sorted(set(stopped.filter(value=value)["seed"]))
            if seeds:
                sentences.append(stopped_by(f"{self.method} with {self.parameter} = {value:g}", limit, seeds))
        return " ".join(sentences) or None

    def obstacle(self, evidence: Evidence, case: ClaimCase) -> str | None:
        """Return why a case does not count, for example because other settings were not tuned; None if it counts."""
        if self.method not in evidence.tuned_sweeps:
            return f"The other settings of {self.method} were not tuned at each value of {self.parameter}."
        return super().obstacle(evidence, case)


class Setting(TwoValues):
    """The best value of a setting in one range gives better rankings than the best value in another range.

    For each range, validation chooses the best value.
    """

    effect = "difference of a metric (claimed: above 0)"

    better: Bounds  # the values that are claimed to be better
    worse: Bounds
    within: Bounds | None = None  # if given, the claim is that the difference is within these bounds
    ratio_at_least: float | None = None  # if given, the claim is about the ratio of the metrics

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        tasks = [each for each in self.tasks(evidence) if not self.sweep(evidence, each.task).is_empty()]
        if not tasks:
            raise UntestableError(f"The run does not vary the setting {self.parameter} of {self.method}.")
        for task in tasks:
            yield ClaimCase.at(task, self.metric)

    def values(self, evidence: Evidence, case: ClaimCase) -> list[float]:
        """Return the best value in the range `better`, then the best value in the range `worse`."""
        return [self.best_value(evidence, case.task, bounds) for bounds in (self.better, self.worse)]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        if self.ratio_at_least is None:
            return super().measure(evidence, case)
        both = metric_of_both(*self.ranks_of_values(evidence, case), self.metric, evidence.resamples)
        return interval(both, quotient, self.ratio_at_least)

    def possible(self, measured: str) -> tuple[float, float]:
        return super().possible(measured) if self.ratio_at_least is None else (0.0, float("inf"))

    def effect_in_words(self) -> str:
        if self.ratio_at_least is not None:
            return "ratio (claimed: at least the claim's bound)"
        return self.effect if self.within is None else "difference of a metric (claimed: within the claim's bounds)"

    def bounds(self) -> Sequence[float] | None:
        return self.within if self.ratio_at_least is None else (self.ratio_at_least, float("inf"))


class StatedOptimum(TwoValues):
    """The value that the paper states for a setting is the best one in validation, or almost as good."""

    effect = (
        "difference of a metric between the best value in validation and the stated value (claimed: at most the "
        "claim's bound)"
    )

    optimum: dict[str, float] = Field(min_length=1)  # data set -> the stated value
    at_most: float = Field(ge=0)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        tasks = [each for each in self.tasks(evidence) if each.task.dataset in self.optimum]
        if not tasks:
            raise UntestableError(f"The paper states this only for {in_words(list(self.optimum))}.")
        for task in tasks:
            yield ClaimCase.at(task, self.metric)

    def values(self, evidence: Evidence, case: ClaimCase) -> list[float]:
        """Return the value that is best in validation, and the stated value."""
        sweep, stated = self.sweep(evidence, case.task), self.optimum[case.task.dataset]
        if sweep.is_empty() or stated not in sweep["value"]:
            raise UntestableError(f"The run does not try {self.method} with {self.parameter} = {stated:g}.")
        return [self.best_value(evidence, case.task, [float("-inf"), float("inf")]), stated]

    def bounds(self) -> Sequence[float]:
        return float("-inf"), self.at_most


def quotient(values: Values) -> Values:
    """Return the first column divided by the second."""
    return np.asarray(values[:, 0] / values[:, 1].clip(1e-12))


def best_value(sweep: pl.DataFrame, bounds: Bounds, n_seeds: int) -> float:
    """Return the value within `bounds` that has the best mean validation metric.

    Values without results for all seeds, because training diverged, are left out. If no value is left, raise an
    `UntestableError`.
    """
    inside = sweep.filter(pl.col("value").is_between(bounds[0], bounds[1])).group_by("value")
    means = inside.agg(pl.col("validation").mean(), seeds=pl.len()).filter(pl.col("seeds") == n_seeds)
    if means.is_empty():
        raise UntestableError(f"No value of the setting from {bounds[0]:g} to {bounds[1]:g} has results for all seeds.")
    return float(means.sort("validation", "value", descending=True)["value"][0])
