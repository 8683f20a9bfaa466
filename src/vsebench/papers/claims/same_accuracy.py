"""A metric of two methods is about the same: the difference of the means lies within bounds, over images and seeds."""

from typing import ClassVar

from pydantic import Field

from vsebench.papers.claim import AgainstRivals, Bounds, ClaimCase, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence, MetricName, interval
from vsebench.papers.verdict import Verdict


class SameAccuracy(AgainstRivals):
    """The method's metric minus each rival's is within bounds."""

    effect: ClassVar[str] = "difference of a metric (claimed: within the claim's bounds)"

    metrics: list[MetricName] = Field(min_length=1)
    within: Bounds

    def metrics_read(self) -> list[str]:
        """Return the metrics."""
        return self.metrics

    def measured(self) -> list[str]:
        """Return the metrics."""
        return self.metrics

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the difference of the method's metric and the rival's."""
        both = evidence.both(case.place, self.method, case.rival, case.measured)
        return interval(both, lambda values: values[:, 0] - values[:, 1], 0.0)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the difference by its interval."""
        return judge_by_interval(effect, *self.within)
