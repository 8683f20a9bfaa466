"""A metric over rows of different sizes: (largest - smallest) / largest of the means, over images and seeds."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from vsebench.papers.claim import AtPlaces, ClaimCase, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence, MetricName, Values, interval
from vsebench.papers.verdict import Verdict


class SizeSpread(AtPlaces):
    """A metric depends little on the size: its spread over the rows is below a bound.

    The largest and the smallest of noisy means are further apart than the true ones, so the spread is too large rather
    than too small.
    """

    effect: ClassVar[str] = "spread of a metric over sizes (claimed: below the claim's bound)"

    sizes: list[str] = Field(min_length=2)  # rows
    metrics: list[MetricName] = Field(min_length=1)
    below: float = Field(gt=0)

    def metrics_read(self) -> list[str]:
        """Return the metrics."""
        return self.metrics

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per place with all sizes and metric."""
        return self.each_metric(evidence, self.sizes, self.metrics)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the spread of the metric."""
        return interval(evidence.resampled(case.place, self.sizes, case.measured), spread, self.below)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the spread by its interval."""
        return judge_by_interval(effect, float("-inf"), self.below)


def spread(values: Values) -> Values:
    """Return (largest - smallest) / largest of each row; 0 where all are 0."""
    largest = values.max(axis=1)
    found: Values = (largest - values.min(axis=1)) / largest.clip(1e-12)
    return found
