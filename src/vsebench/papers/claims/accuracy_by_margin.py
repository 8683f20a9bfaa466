"""A metric of two methods: whether the difference of the means is above a bound, over images and seeds."""

from typing import ClassVar

from pydantic import Field

from vsebench.evaluation.metrics.base import load_metric
from vsebench.papers.claim import ClaimCase
from vsebench.papers.claims.accuracy import Accuracy, advantage
from vsebench.papers.evidence import Effect, Evidence


class AccuracyByMargin(Accuracy):
    """The method is better than each rival, in each metric, by more than a bound."""

    effect: ClassVar[str] = "difference of a metric (claimed: above the claim's bound)"

    by: float = Field(gt=0)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the difference of the method's metric and the rival's, tested against the bound."""
        both = evidence.both(case.place, self.method, case.rival, case.measured)
        return advantage(both, load_metric(case.measured).lower_is_better, self.by)
