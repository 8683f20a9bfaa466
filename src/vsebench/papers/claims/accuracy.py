"""Claims about the difference between two methods in the mean of a metric over images and seeds."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.tasks import Entry
from vsebench.evaluation.estimates import Estimates
from vsebench.evaluation.metrics.base import is_of_decision, load_metric
from vsebench.papers.claim import AgainstRivals, Bounds, ClaimCase, differences_of, in_words
from vsebench.papers.evidence import (
    AnyMetricName,
    DecisionMetricName,
    Evidence,
    Measurement,
    MetricName,
    UntestableError,
    difference,
    interval,
)


class DifferenceOfMetric(AgainstRivals):
    """A test of the difference of a metric between the method and each rival."""

    searched = True

    def possible(self, measured: str) -> tuple[float, float]:
        return differences_of(measured)


class Accuracy(DifferenceOfMetric):
    """The method is better than each rival in each metric.

    For metrics of label sets, such as exact_match, a claim names the method and the rivals as "method/decision".
    """

    effect = "difference of a metric (claimed: above 0)"

    metrics: list[AnyMetricName] = Field(min_length=1)

    @model_validator(mode="after")
    def _decided(self) -> "Accuracy":
        without = [name for name in (self.method, *self.rivals) if "/" not in name]
        of_sets = any(map(is_of_decision, self.metrics))
        if without and of_sets:
            raise PydanticCustomError(
                "decision",
                "metrics: one of them is for label sets, so name {method} with a decision (method/decision)",
                {"method": without[0]},
            )
        if not of_sets and len(without) <= len(self.rivals):
            raise PydanticCustomError("decision", "metrics: none is for label sets, so name methods without decisions")
        unjudged = [name for name in self.metrics if not load_metric(name).is_quality]
        if unjudged:
            message = "metrics: neither large nor small values of {name} are better"
            raise PydanticCustomError("metric", message, {"name": unjudged[0]})
        return self

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        both = evidence.both(case.task, self.method, case.rival, case.measured)
        return advantage(both, load_metric(case.measured).lower_is_better, self.bound())

    def bound(self) -> float:
        """Return the difference between two methods under the null hypothesis, by default 0."""
        return 0.0


class AccuracyByMargin(Accuracy):
    """The method is better than each rival in each metric, by more than the bound `by`."""

    effect = "difference of a metric (claimed: above the claim's bound)"

    by: float = Field(gt=0)

    def bound(self) -> float:
        return self.by


class AccuracyWithDecisions(DifferenceOfMetric):
    """For each of several decisions, the method is better in each metric than each rival with the same decision."""

    effect = "difference of a metric (claimed: above 0)"

    decisions: list[str] = Field(min_length=1)
    metrics: list[DecisionMetricName] = Field(min_length=1)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        combinations = itertools.product(self.tasks(evidence), self.rivals, self.decisions, self.metrics)
        cases = [
            ClaimCase.at(task, metric, f"{rival}/{decision}")
            for task, rival, decision, metric in combinations
            if {f"{self.method}/{decision}", f"{rival}/{decision}"} <= set(task.variants)
        ]
        if not cases:
            raise UntestableError(
                f"The run applies none of the claim's decisions both to {self.method} and to {in_words(self.rivals)}."
            )
        yield from cases

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        ours = str(replace(Entry.of(case.rival), variant=self.method))
        both = evidence.both(case.task, ours, case.rival, case.measured)
        return advantage(both, load_metric(case.measured).lower_is_better, 0.0)

    def domain(self) -> dict[str, Any]:
        return super().domain() | {"decisions": set(self.decisions)}


class SameAccuracy(DifferenceOfMetric):
    """The method's metric minus that of the rival lies within the bounds `within`, for each metric and rival."""

    effect = "difference of a metric (claimed: within the claim's bounds)"

    metrics: list[MetricName] = Field(min_length=1)
    within: Bounds

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        both = evidence.both(case.task, self.method, case.rival, case.measured)
        return interval(both, lambda values: values[:, 0] - values[:, 1], 0.0)

    def bounds(self) -> Sequence[float]:
        return self.within


def advantage(both: Estimates, lower_is_better: bool, bound: float) -> Measurement:
    """Return by how much the first of two quantities is better than the second, with a test against `bound`."""
    sign = -1 if lower_is_better else 1
    return difference(both, lambda values: sign * (values[:, 0] - values[:, 1]), bound)
