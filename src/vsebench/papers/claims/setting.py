"""Difference of a metric between the best values of two ranges of a setting, over images and seeds."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import polars as pl

from vsebench.core.tasks import Task
from vsebench.papers.claim import AtTasks, Bounds, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, MetricName, UntestableError, metric_difference


class Setting(AtTasks):
    """The best value in one range of a setting ranks better than the best value in another, both by validation."""

    effect: ClassVar[str] = "difference of a metric (claimed: above 0, or within the claim's bounds)"

    parameter: str  # the setting, which the run varies by its key `sweeps`
    better: Bounds  # the values that are claimed to be better
    worse: Bounds
    metric: MetricName
    within: Bounds | None = None  # if given, the claim is that the difference is within these bounds

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        tasks = [each for each in self.tasks(evidence) if not self._varied(evidence, each.task).is_empty()]
        if not tasks:
            raise UntestableError(f"The run varies no setting {self.parameter} of {self.method}.")
        for task in tasks:
            yield ClaimCase.at(task, self.metric)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        sweep = self._varied(evidence, case.task).filter(metric=self.metric)
        chosen = [best_value(sweep, bounds, len(evidence.seeds)) for bounds in (self.better, self.worse)]
        tables = [evidence.read_sweep_ranks(each, self.parameter) for each in evidence.cases(case.task, self.method)]
        better, worse = ([table.filter(pl.col("value") == value) for table in tables] for value in chosen)
        return metric_difference(better, worse, self.metric, evidence.resamples)

    def _varied(self, evidence: Evidence, task: Task) -> pl.DataFrame:
        """Return the rows of SWEEPS for the setting on a task; none if it is not varied."""
        if evidence.sweeps is None:
            return pl.DataFrame()
        keys = {"dataset": task.dataset, "protocol": task.protocol, "method": self.method}
        return evidence.sweeps.filter(**keys, parameter=self.parameter)

    def bounds(self) -> Sequence[float] | None:
        return self.within


def best_value(sweep: pl.DataFrame, bounds: Bounds, n_seeds: int) -> float:
    """Return the value in a range with the highest mean validation metric, among those that diverged with no seed.

    If there is none, raise an `UntestableError`.
    """
    inside = sweep.filter(pl.col("value").is_between(bounds[0], bounds[1])).group_by("value")
    means = inside.agg(pl.col("validation").mean(), seeds=pl.len()).filter(pl.col("seeds") == n_seeds)
    if means.is_empty():
        raise UntestableError(f"The run tries no value from {bounds[0]:g} to {bounds[1]:g}.")
    return float(means.sort("validation", "value", descending=True)["value"][0])


TESTS = {"setting": Setting}
