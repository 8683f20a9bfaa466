"""Two methods in metrics that pull apart: one method leads in some, the rival in others."""

from typing import ClassVar

from pydantic import Field

from vsebench.evaluation.metrics.base import load_metric
from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.claims.accuracy import advantage
from vsebench.papers.evidence import Effect, Evidence, MetricName

RIVALS = " of the rival, less the method's"


class TradeOff(AgainstRivals):
    """The method is better in some metrics at the price of others, in which each rival is better."""

    effect: ClassVar[str] = "difference of a metric in the claimed direction (claimed: above 0)"

    better: list[MetricName] = Field(min_length=1)  # metrics in which the method leads
    worse: list[MetricName] = Field(min_length=1)  # metrics in which the rival leads

    def metrics_read(self) -> list[str]:
        """Return the metrics."""
        return [*self.better, *self.worse]

    def measured(self) -> list[str]:
        """Return the metrics in which the method leads, then those in which the rival does."""
        return [*self.better, *(metric + RIVALS for metric in self.worse)]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the difference of a metric, that of the rival less the method's where the rival is to lead."""
        metric = case.measured.removesuffix(RIVALS)
        pair = (self.method, case.rival) if metric == case.measured else (case.rival, self.method)
        return advantage(evidence.both(case.place, *pair, metric), load_metric(metric).lower_is_better, 0.0)
