"""Relative gain of an ensemble over its best member, over images and seeds."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from vsebench.papers.claim import AtPlaces, ClaimCase, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence, MetricName, Values, interval
from vsebench.papers.verdict import Verdict


class GainOverBest(AtPlaces):
    """The method is better than the best of its members by a share of that member's metric."""

    effect: ClassVar[str] = "relative gain over the best member (claimed: at least the claim's bound)"

    members: list[str] = Field(min_length=1)  # rows
    metrics: list[MetricName] = Field(min_length=1)
    at_least: float = Field(ge=0)

    def metrics_read(self) -> list[str]:
        """Return the metrics."""
        return self.metrics

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per place with all members and metric."""
        return self.each_metric(evidence, self.members, self.metrics)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the relative gain over the member with the highest mean."""
        found = evidence.resampled(case.place, [self.method, *self.members], case.measured)
        best = 1 + int(found.means[1:].argmax())

        def gain(values: Values) -> Values:
            gained: Values = values[:, 0] / values[:, best].clip(1e-12) - 1
            return gained

        return interval(found, gain, self.at_least)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the gain by its interval."""
        return judge_by_interval(effect, self.at_least, float("inf"))
