"""Claims about siblings: methods are compared by a precision that counts siblings of correct labels as correct."""

import itertools
from collections.abc import Iterator

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.tasks import Task
from vsebench.evaluation.estimates import Estimates
from vsebench.evaluation.ranking import LIST_LENGTH
from vsebench.papers.claim import AgainstRivals, ClaimCase, ClaimTest
from vsebench.papers.evidence import (
    Evidence,
    Measurement,
    MetricName,
    OfMeans,
    RunTask,
    UntestableError,
    Values,
    difference,
)


class SiblingPrecision(AgainstRivals):
    """The method has a higher sibling precision than each rival.

    With `ratio: true`, the ratio of sibling precision to precision is compared instead.
    """

    effect = "difference of sibling precision (claimed: above 0)"
    searched = True
    reads = ("lists",)

    cutoff: int = Field(ge=1, le=LIST_LENGTH)
    ratio: bool = False  # whether the ratio of sibling precision to precision is compared instead

    def effect_in_words(self) -> str:
        return "difference of the ratio sibling precision / precision (claimed: above 0)" if self.ratio else self.effect

    def possible(self, measured: str) -> tuple[float, float]:
        return super().possible(measured) if self.ratio else (-1.0, 1.0)

    def measured(self) -> list[str]:
        name = f"sibling_precision@{self.cutoff}"
        return [f"{name} over precision@{self.cutoff}" if self.ratio else name]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        both = evidence.sibling_precisions(case.task, [self.method, case.rival], self.cutoff)
        return difference(both, of_ratios if self.ratio else of_siblings)


def of_siblings(values: Values) -> Values:
    """Return the sibling precision of the first method minus that of the second, as an array of shape (m,).

    The columns of `values`, (m, 4), are the precision and sibling precision of the first method, then of the second.
    """
    return values[:, 1] - values[:, 3]


def of_ratios(values: Values) -> Values:
    """Return the first method's ratio of sibling precision to precision, minus that of the second method.

    The columns of `values` are those of `of_siblings`.
    """
    ours, theirs = (values[:, n + 1] / values[:, n].clip(1e-12) for n in (0, 2))
    return np.asarray(ours - theirs)


class NoisierLabels(ClaimTest):
    """With more wrong labels, the method's metric falls by a larger factor than a steadier quantity.

    The steadier quantity is the metric of the variant `steadier`. If the claim names no such variant, it is the
    method's sibling precision at the cut-off of the metric.
    """

    effect = (
        "share of the steadier quantity that remains with noisier labels, divided by the share of the method's metric "
        "that remains (claimed: above 1)"
    )
    searched = True

    reads = ("lists",)

    clean: str  # the data set with fewer wrong labels
    noisy: str  # a data set with the same vocabulary and more wrong labels
    metric: MetricName
    steadier: str | None = None  # a variant

    @model_validator(mode="after")
    def _has_sibling_precision(self) -> "NoisierLabels":
        name, _, cutoff = self.metric.partition("@")
        if self.steadier is None and (name != "precision" or int(cutoff) > LIST_LENGTH):
            raise PydanticCustomError(
                "metric", f"metric: without `steadier`, use precision@1 to precision@{LIST_LENGTH}"
            )
        return self

    @property
    def cutoff(self) -> int:
        """The number k of labels if the metric is precision@k."""
        return int(self.metric.partition("@")[2])

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield the task on the noisy data set as a case, for each protocol that has results on both data sets."""
        pairs = itertools.product(self._tasks(evidence, self.clean), self._tasks(evidence, self.noisy))
        tasks = [noisy for clean, noisy in pairs if clean.task.protocol == noisy.task.protocol]
        if not tasks:
            raise UntestableError(f"The run lacks results for the claim's methods on {self.clean} or {self.noisy}.")
        measured = self.metric if self.steadier else f"sibling_precision@{self.cutoff} and {self.metric}"
        for noisy in tasks:
            yield ClaimCase.at(noisy, measured, self.steadier or "")

    def _tasks(self, evidence: Evidence, dataset: str) -> list[RunTask]:
        variants = {self.method, self.steadier or self.method}
        return [each for each in evidence.tasks if each.task.dataset == dataset and variants <= set(each.variants)]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        clean = self._quantities(evidence, Task(self.clean, case.task.protocol))
        noisy = self._quantities(evidence, case.task)
        return OfMeans(Estimates.side_by_side([clean, noisy]), log_ratio, logarithm=True)

    def _quantities(self, evidence: Evidence, task: Task) -> Estimates:
        """Return the method's metric and the steadier quantity."""
        if self.steadier:
            return evidence.resampled(task, [self.method, self.steadier], self.metric)
        return evidence.sibling_precisions(task, [self.method], self.cutoff)


def log_ratio(values: Values) -> Values:
    """Return the logarithm of the effect, as an array of shape (m,).

    The columns of `values`, (m, 4), are the metric and the steadier quantity with clean labels, then with noisy labels.
    """
    metric, steadier, noisy_metric, noisy_steadier = np.log(values.clip(1e-12)).T
    return np.asarray((noisy_steadier - steadier) - (noisy_metric - metric))
