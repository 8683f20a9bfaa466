"""Difference in a metric between the best values in two ranges of a setting, over images and seeds."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.core.tasks import Task
from vsebench.papers.claim import AtTasks, Bounds, ClaimCase, ClaimTest, in_words
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


class Setting(AtTasks):
    """The best value in one range of a setting beats the best value in another; validation chooses both values."""

    effect: ClassVar[str] = "difference of a metric, or ratio (claimed: above 0, or within the claim's bounds)"

    parameter: str  # the setting, which the run varies by its key `sweeps`
    better: Bounds  # the values that are claimed to be better
    worse: Bounds
    metric: MetricName
    within: Bounds | None = None  # if given, the claim is that the difference is within these bounds
    ratio_at_least: float | None = None  # if given, the claim is about the ratio of the metrics

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        tasks = [
            each for each in self.tasks(evidence) if not varied(self, self.parameter, evidence, each.task).is_empty()
        ]
        if not tasks:
            raise UntestableError(f"The run varies no setting {self.parameter} of {self.method}.")
        for task in tasks:
            yield ClaimCase.at(task, self.metric)

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        values = self._values(evidence, case)
        ours, theirs = (tables_of_value(self, self.parameter, evidence, case.task, value) for value in values)
        if self.ratio_at_least is not None:
            return interval(
                metric_of_both(ours, theirs, self.metric, evidence.resamples), quotient, self.ratio_at_least
            )
        return metric_difference(ours, theirs, self.metric, evidence.resamples)

    def _values(self, evidence: Evidence, case: ClaimCase) -> list[float]:
        """Return the better and the worse value that are compared."""
        sweep = varied(self, self.parameter, evidence, case.task).filter(metric=self.metric)
        n_seeds = len(evidence.cases(case.task, self.method))
        return [best_value(sweep, bounds, n_seeds) for bounds in (self.better, self.worse)]

    def remark(self, evidence: Evidence, case: ClaimCase) -> str | None:
        return stopped_values(self, self.parameter, evidence, case.task, self._values(evidence, case))

    def obstacle(self, evidence: Evidence, case: ClaimCase) -> str | None:
        return untuned(self, self.parameter, evidence) or super().obstacle(evidence, case)

    def bounds(self) -> Sequence[float] | None:
        return self.within if self.ratio_at_least is None else (self.ratio_at_least, float("inf"))


class StatedOptimum(AtTasks):
    """The stated value of a setting is the best, or almost as good as the best value on validation labels."""

    effect: ClassVar[str] = "difference in a metric from the stated value (claimed: at most the claim's bound)"

    parameter: str  # the setting, which the run varies by its key `sweeps`
    optimum: dict[str, float] = Field(min_length=1)  # data set -> the stated value
    metric: MetricName
    at_most: float = Field(ge=0)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        tasks = [each for each in self.tasks(evidence) if each.task.dataset in self.optimum]
        if not tasks:
            raise UntestableError(f"The paper states this only for {in_words(list(self.optimum))}.")
        for task in tasks:
            yield ClaimCase.at(task, self.metric)

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        values = self._values(evidence, case)
        ours, theirs = (tables_of_value(self, self.parameter, evidence, case.task, value) for value in values)
        return metric_difference(ours, theirs, self.metric, evidence.resamples)

    def _values(self, evidence: Evidence, case: ClaimCase) -> list[float]:
        """Return the value with the best validation metric and the stated value."""
        sweep, stated = varied(self, self.parameter, evidence, case.task), self.optimum[case.task.dataset]
        if sweep.is_empty() or stated not in sweep["value"]:
            raise UntestableError(f"The run does not try {self.method} with {self.parameter} = {stated:g}.")
        n_seeds, everywhere = len(evidence.cases(case.task, self.method)), [float("-inf"), float("inf")]
        return [best_value(sweep.filter(metric=self.metric), everywhere, n_seeds), stated]

    def remark(self, evidence: Evidence, case: ClaimCase) -> str | None:
        return stopped_values(self, self.parameter, evidence, case.task, self._values(evidence, case))

    def obstacle(self, evidence: Evidence, case: ClaimCase) -> str | None:
        return untuned(self, self.parameter, evidence) or super().obstacle(evidence, case)

    def bounds(self) -> Sequence[float]:
        return float("-inf"), self.at_most


def varied(test: ClaimTest, parameter: str, evidence: Evidence, task: Task) -> pl.DataFrame:
    """Return the rows of SWEEPS for a setting of the test's method on a task; none if it is not varied."""
    if evidence.sweeps is None:
        return pl.DataFrame()
    keys = {"dataset": task.dataset, "protocol": task.protocol, "method": test.method}
    return evidence.sweeps.filter(**keys, parameter=parameter)


def tables_of_value(
    test: ClaimTest, parameter: str, evidence: Evidence, task: Task, value: float
) -> list[pl.DataFrame]:
    """Return the tables RANKS for a value of a setting, one per seed."""
    tables = [evidence.read_sweep_ranks(each, parameter) for each in evidence.cases(task, test.method)]
    return [table.filter(pl.col("value") == value) for table in tables]


def stopped_values(
    test: ClaimTest, parameter: str, evidence: Evidence, task: Task, values: Sequence[float]
) -> str | None:
    """Return a sentence for each of these values of a setting whose fits a limit stopped; None if there is none."""
    stopped = varied(test, parameter, evidence, task).filter("at_limit")
    limit = "iterations" if stopped["epochs"].null_count() else "epochs"
    seeds = {value: sorted(set(stopped.filter(value=value)["seed"])) for value in dict.fromkeys(values)}
    sentences = [
        stopped_by(f"{test.method} with {parameter} = {value:g}", limit, of_value)
        for value, of_value in seeds.items()
        if of_value
    ]
    return " ".join(sentences) or None


def untuned(test: ClaimTest, parameter: str, evidence: Evidence) -> str | None:
    """Return why a sweep does not count: the other settings were the same at each value; None if they were not."""
    if test.method in evidence.tuned_sweeps:
        return None
    return f"The other settings of {test.method} were not tuned at each value of {parameter}."


def quotient(values: Values) -> Values:
    """Return the first column divided by the second."""
    return np.asarray(values[:, 0] / values[:, 1].clip(1e-12))


def best_value(sweep: pl.DataFrame, bounds: Bounds, n_seeds: int) -> float:
    """Return the value in a range with the best mean validation metric, among values that never diverged.

    If there is none, raise an `UntestableError`.
    """
    inside = sweep.filter(pl.col("value").is_between(bounds[0], bounds[1])).group_by("value")
    means = inside.agg(pl.col("validation").mean(), seeds=pl.len()).filter(pl.col("seeds") == n_seeds)
    if means.is_empty():
        raise UntestableError(f"The run tries no value from {bounds[0]:g} to {bounds[1]:g}.")
    return float(means.sort("validation", "value", descending=True)["value"][0])


TESTS = {"setting": Setting, "stated_optimum": StatedOptimum}
