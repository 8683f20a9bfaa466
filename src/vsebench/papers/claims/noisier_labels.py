"""What noisier labels leave of two quantities: ratio of the shares that are left, over images and seeds."""

import itertools
import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.tasks import Task
from vsebench.evaluation.ranking import LIST_LENGTH
from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import (
    Effect,
    Estimates,
    Evidence,
    MetricName,
    RunTask,
    UntestableError,
    Values,
    difference,
)


class NoisierLabels(ClaimTest):
    """From one data set to another with more wrong labels, the method's metric falls by more than something steadier.

    That is the metric of another variant or, where none is named, the method's sibling precision at the same cut-off.
    """

    effect: ClassVar[str] = (
        "share of the steadier quantity that remains with noisier labels, divided by the remaining share of the "
        "method's metric (claimed: above 1)"
    )

    reads: ClassVar[tuple[str, ...]] = ("lists",)

    clean: str  # a data set
    noisy: str  # another, with the same labels
    metric: MetricName
    steadier: str | None = None  # a variant

    @model_validator(mode="after")
    def _has_sibling_precision(self) -> "NoisierLabels":
        name, _, cutoff = self.metric.partition("@")
        if self.steadier is None and (name != "precision" or int(cutoff) > LIST_LENGTH):
            raise PydanticCustomError("metric", f"without steadier, metric is precision@1 to precision@{LIST_LENGTH}")
        return self

    @property
    def cutoff(self) -> int:
        """The cut-off of a precision."""
        return int(self.metric.partition("@")[2])

    def metrics_read(self) -> list[str]:
        """Return the metric."""
        return [self.metric]

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield the noisy task, once for each protocol that both data sets were tested by."""
        pairs = itertools.product(self._tasks(evidence, self.clean), self._tasks(evidence, self.noisy))
        tasks = [noisy for clean, noisy in pairs if clean.task.protocol == noisy.task.protocol]
        if not tasks:
            raise UntestableError(f"The run lacks {self.clean} or {self.noisy}, or one of the claim's methods there.")
        measured = self.metric if self.steadier else f"sibling_precision@{self.cutoff} and {self.metric}"
        for noisy in tasks:
            yield ClaimCase.at(noisy, measured, self.steadier or "")

    def _tasks(self, evidence: Evidence, dataset: str) -> list[RunTask]:
        variants = {self.method, self.steadier or self.method}
        return [each for each in evidence.tasks if each.task.dataset == dataset and variants <= set(each.variants)]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio of the shares."""
        clean = self._quantities(evidence, Task(self.clean, case.task.protocol))
        noisy = self._quantities(evidence, case.task)
        found = difference(Estimates.side_by_side([clean, noisy]), log_ratio)
        return Effect(math.exp(found.value), math.exp(found.low), math.exp(found.high), found.p, 1.0)

    def _quantities(self, evidence: Evidence, task: Task) -> Estimates:
        """Return the method's metric and the steadier quantity."""
        if self.steadier:
            return evidence.resampled(task, [self.method, self.steadier], self.metric)
        return evidence.sibling_precisions(task, [self.method], self.cutoff)


def log_ratio(values: Values) -> Values:
    """Return the logarithm of the effect; (m, 4): metric and steadier quantity, on clean and on noisy labels."""
    metric, steadier, noisy_metric, noisy_steadier = np.log(values.clip(1e-12)).T
    found: Values = (noisy_steadier - steadier) - (noisy_metric - metric)
    return found


TESTS = {"noisier_labels": NoisierLabels}
