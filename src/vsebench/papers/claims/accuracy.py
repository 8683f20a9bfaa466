"""A metric of two methods: difference of the means, paired bootstrap over images and seeds."""

from typing import ClassVar

from pydantic import Field

from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, MetricName


class Accuracy(AgainstRivals):
    """The method ranks better than each rival, in each metric."""

    effect: ClassVar[str] = "difference of a metric (claimed: above 0)"

    metrics: list[MetricName] = Field(min_length=1)

    def metrics_read(self) -> list[str]:
        """Return the metrics."""
        return self.metrics

    def measured(self) -> list[str]:
        """Return the metrics."""
        return self.metrics

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the difference of the method's metric and the rival's."""
        return evidence.difference(case.place, self.method, case.rival, self.metrics)[case.measured]
