"""A metric over rows of different sizes: (largest - smallest) / largest of the means, bootstrapped."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field, field_validator

from vsebench.papers.claim import AtPlaces, ClaimCase, in_words, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence, UntestableError, Values, check_metric
from vsebench.papers.verdict import Verdict


class SizeSpread(AtPlaces):
    """A metric depends little on the size: its spread over the rows is below a bound.

    The largest and the smallest of noisy means are further apart than the true ones, so the spread is too large rather
    than too small.
    """

    effect: ClassVar[str] = "spread of a metric over sizes (claimed: below the claim's bound)"

    sizes: list[str] = Field(min_length=2)  # rows
    metrics: list[str] = Field(min_length=1)
    below: float = Field(gt=0)

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: list[str]) -> list[str]:
        return [check_metric(metric) for metric in metrics]

    def metrics_read(self) -> list[str]:
        """Return the metrics."""
        return self.metrics

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per place with all sizes and metric."""
        places = [place for place in self.places(evidence) if set(self.sizes) <= set(place.rows)]
        if not places:
            raise UntestableError(f"The run lacks one of the rows {in_words(self.sizes)}.")
        for place in places:
            for metric in self.metrics:
                yield ClaimCase(metric, place.place, place.simulated)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the spread of the metric."""
        return evidence.resampled(case.place, self.sizes, case.measured).effect(spread, self.below)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the spread by its interval."""
        return judge_by_interval(effect, 0.0, self.below)


def spread(values: Values) -> Values:
    """Return (largest - smallest) / largest of each row; 0 where all are 0."""
    largest = values.max(axis=1)
    found: Values = (largest - values.min(axis=1)) / largest.clip(1e-12)
    return found
