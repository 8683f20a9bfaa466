"""Ratios of one metric of several methods: of the means, over images and seeds, judged by their interval."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.papers.claim import AtTasks, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, MetricName, UntestableError, Values, interval


class GainOverBest(AtTasks):
    """The method is better than the best of its members by a share of that member's metric."""

    effect: ClassVar[str] = "relative gain over the best member (claimed: at least the claim's bound)"

    members: list[str] = Field(min_length=1)  # variants
    metrics: list[MetricName] = Field(min_length=1)
    at_least: float = Field(ge=0)

    def metrics_read(self) -> list[str]:
        return self.metrics

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per task with all members and metric."""
        return self.each_metric(evidence, self.members, self.metrics)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the relative gain of the method over the member with the highest mean."""
        found = evidence.resampled(case.task, [self.method, *self.members], case.measured)
        best = 1 + int(found.means[1:].argmax())

        def gain(values: Values) -> Values:
            gained: Values = values[:, 0] / values[:, best].clip(1e-12) - 1
            return gained

        return interval(found, gain, self.at_least)

    def bounds(self) -> Sequence[float]:
        return self.at_least, float("inf")


class ShareOfMetric(AtTasks):
    """A metric of the method is not what a simpler control reaches: that has only a share of it, below a bound."""

    effect: ClassVar[str] = "share of the metric that the control reaches (claimed: below the claim's bound)"

    control: str  # a variant, such as popularity
    metric: MetricName
    below: float = Field(gt=0)

    def metrics_read(self) -> list[str]:
        return [self.metric]

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per task with the control."""
        tasks = [task for task in self.tasks(evidence) if self.control in task.variants]
        if not tasks:
            raise UntestableError(f"The run has no method {self.control} on such data.")
        for task in tasks:
            yield ClaimCase.at(task, self.metric, self.control)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the control's metric over the method's."""
        both = evidence.resampled(case.task, [self.control, self.method], self.metric)
        return interval(both, share, self.below)

    def bounds(self) -> Sequence[float]:
        return float("-inf"), self.below


def share(values: Values) -> Values:
    """Return the first column over the second; 1 where the second is 0, since then all of it is reached."""
    control, method = values.T
    found: Values = np.where(method > 0, control / np.where(method > 0, method, 1), 1.0)
    return found


class SizeSpread(AtTasks):
    """A metric depends little on the size: its spread over the sizes is below a bound.

    The largest and the smallest of noisy means are further apart than the true ones, so the spread is too large rather
    than too small.
    """

    effect: ClassVar[str] = "spread of a metric over sizes (claimed: below the claim's bound)"

    sizes: list[str] = Field(min_length=2)  # variants
    metrics: list[MetricName] = Field(min_length=1)
    below: float = Field(gt=0)

    def metrics_read(self) -> list[str]:
        return self.metrics

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per task with all sizes and metric."""
        return self.each_metric(evidence, self.sizes, self.metrics)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        return interval(evidence.resampled(case.task, self.sizes, case.measured), spread, self.below)

    def bounds(self) -> Sequence[float]:
        return float("-inf"), self.below


def spread(values: Values) -> Values:
    """Return (largest - smallest) / largest of each row; 0 where all are 0."""
    largest = values.max(axis=1)
    found: Values = (largest - values.min(axis=1)) / largest.clip(1e-12)
    return found


TESTS = {"gain_over_best": GainOverBest, "share_of_metric": ShareOfMetric, "size_spread": SizeSpread}
