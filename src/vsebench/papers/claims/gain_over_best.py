"""Relative gain of an ensemble over its best member: bootstrap over images and seeds."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field, field_validator

from vsebench.papers.claim import AtPlaces, ClaimCase, in_words, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence, UntestableError, Values, check_metric
from vsebench.papers.verdict import Verdict


class GainOverBest(AtPlaces):
    """The method is better than the best of its members by a share of that member's metric."""

    effect: ClassVar[str] = "relative gain over the best member (claimed: at least the claim's bound)"

    members: list[str] = Field(min_length=1)  # rows
    metrics: list[str] = Field(min_length=1)
    at_least: float = Field(ge=0)

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: list[str]) -> list[str]:
        return [check_metric(metric) for metric in metrics]

    def metrics_read(self) -> list[str]:
        """Return the metrics."""
        return self.metrics

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per place with all members and metric."""
        places = [place for place in self.places(evidence) if set(self.members) <= set(place.rows)]
        if not places:
            raise UntestableError(f"The run lacks one of the rows {in_words(self.members)}.")
        for place in places:
            for metric in self.metrics:
                yield ClaimCase(metric, place.place, place.simulated)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the relative gain over the member with the highest mean."""
        found = evidence.resampled(case.place, [self.method, *self.members], case.measured)
        best = 1 + int(found.means[1:].argmax())

        def gain(values: Values) -> Values:
            return values[:, 0] / values[:, best] - 1

        return found.effect(gain, self.at_least)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the gain by its interval."""
        return judge_by_interval(effect, self.at_least, float("inf"))
