"""A metric of two methods: difference of the means, over images and seeds."""

from typing import ClassVar

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.evaluation.metrics.base import is_of_decision, load_metric
from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import AnyMetricName, Effect, Estimates, Evidence, difference


class Accuracy(AgainstRivals):
    """The method is better than each rival, in each metric.

    Method and rivals are rows; for metrics of label sets, such as exact_match, rows with a decision: "row/decision".
    """

    effect: ClassVar[str] = "difference of a metric (claimed: above 0)"

    metrics: list[AnyMetricName] = Field(min_length=1)

    @model_validator(mode="after")
    def _decided(self) -> "Accuracy":
        without = [name for name in (self.method, *self.rivals) if "/" not in name]
        of_sets = any(map(is_of_decision, self.metrics))
        if without and of_sets:
            raise PydanticCustomError(
                "decision", "metrics: one is of label sets, so name {row} with a decision", {"row": without[0]}
            )
        if not of_sets and len(without) <= len(self.rivals):
            raise PydanticCustomError("decision", "metrics: none is of label sets, so name rows without decisions")
        unjudged = [name for name in self.metrics if not load_metric(name).is_quality]
        if unjudged:
            message = "metrics: {name} is not better where it is larger"
            raise PydanticCustomError("metric", message, {"name": unjudged[0]})
        return self

    def metrics_read(self) -> list[str]:
        """Return the metrics."""
        return self.metrics

    def measured(self) -> list[str]:
        """Return the metrics."""
        return self.metrics

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the difference of the method's metric and the rival's."""
        both = evidence.both(case.place, self.method, case.rival, case.measured)
        return advantage(both, load_metric(case.measured).lower_is_better, 0.0)


def advantage(both: Estimates, lower_is_better: bool, bound: float) -> Effect:
    """Return how much better the first of two quantities is than the second, tested against a bound."""
    sign = -1 if lower_is_better else 1
    return difference(both, lambda values: sign * (values[:, 0] - values[:, 1]), bound)
