"""What the most frequent labels alone reach of a method's metric: ratio of means, bootstrap over images and seeds."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field, field_validator

from vsebench.papers.claim import AtPlaces, ClaimCase, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence, UntestableError, Values, check_metric
from vsebench.papers.verdict import Verdict


class FrequentLabel(AtPlaces):
    """A metric of the method does not come from frequent labels: a control that names only these has little of it."""

    effect: ClassVar[str] = "share of the metric that the control reaches (claimed: below the claim's bound)"

    control: str  # the row that ranks labels by their frequency
    metric: str
    below: float = Field(gt=0)

    @field_validator("metric")
    @classmethod
    def _known(cls, metric: str) -> str:
        return check_metric(metric)

    def metrics_read(self) -> list[str]:
        """Return the metric."""
        return [self.metric]

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per place with the control."""
        places = [place for place in self.places(evidence) if self.control in place.rows]
        if not places:
            raise UntestableError(f"The run has no row {self.control} on such data.")
        for place in places:
            yield ClaimCase(self.metric, place.place, place.simulated, self.control)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the control's metric over the method's."""
        return evidence.resampled(case.place, [self.control, self.method], self.metric).effect(share, self.below)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the share by its interval."""
        return judge_by_interval(effect, 0.0, self.below)


def share(values: Values) -> Values:
    """Return the first column over the second."""
    found: Values = values[:, 0] / values[:, 1].clip(1e-12)
    return found
