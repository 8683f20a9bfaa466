"""What a control reaches of a method's metric: ratio of means, over images and seeds."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.papers.claim import AtPlaces, ClaimCase, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence, MetricName, UntestableError, Values, interval
from vsebench.papers.verdict import Verdict


class ShareOfMetric(AtPlaces):
    """A metric of the method is not what a simpler control reaches: that has only a share of it, below a bound."""

    effect: ClassVar[str] = "share of the metric that the control reaches (claimed: below the claim's bound)"

    control: str  # a row, such as popularity
    metric: MetricName
    below: float = Field(gt=0)

    def metrics_read(self) -> list[str]:
        """Return the metric."""
        return [self.metric]

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per place with the control."""
        places = [place for place in self.places(evidence) if self.control in place.rows]
        if not places:
            raise UntestableError(f"The run has no row {self.control} on such data.")
        for place in places:
            yield ClaimCase(self.metric, place.place, place.data, self.control)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the control's metric over the method's."""
        both = evidence.resampled(case.place, [self.control, self.method], self.metric)
        return interval(both, share, self.below)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the share by its interval."""
        return judge_by_interval(effect, float("-inf"), self.below)


def share(values: Values) -> Values:
    """Return the first column over the second; 1 where the second is 0, since then all of it is reached."""
    control, method = values.T
    found: Values = np.where(method > 0, control / np.where(method > 0, method, 1), 1.0)
    return found
