"""What noisier labels leave of two quantities: ratio of the shares that are left, bootstrap over images and seeds."""

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.evaluation.ranking import LIST_LENGTH
from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import Effect, Evidence, MetricName, Resampled, RunPlace, UntestableError, Values


class NoisierLabels(ClaimTest):
    """From one data set to another with more wrong labels, the method's metric falls by more than something steadier.

    That is the same metric of another row (`steadier`), or the method's own sibling precision (`cutoff`).
    """

    effect: ClassVar[str] = (
        "share that noisier labels leave of the steadier quantity, over the share that they leave of the method's "
        "metric (claimed: above 1)"
    )

    reads: ClassVar[tuple[str, ...]] = ("lists",)

    clean: str  # a data set
    noisy: str  # another, with the same labels
    metric: MetricName
    steadier: str | None = None  # a row
    cutoff: int | None = Field(default=None, ge=1, le=LIST_LENGTH)

    def metrics_read(self) -> list[str]:
        """Return the metric."""
        return [self.metric]

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield the noisy place, once for each protocol that both data sets were tested by."""
        found = False
        for noisy in self._places(evidence, self.noisy):
            if any(clean.place.protocol == noisy.place.protocol for clean in self._places(evidence, self.clean)):
                found = True
                measured = self.metric if self.cutoff is None else f"sibling_precision@{self.cutoff} and {self.metric}"
                yield ClaimCase(measured, noisy.place, noisy.simulated, self.steadier or "")
        if not found:
            raise UntestableError(f"The run lacks {self.clean} or {self.noisy}, or one of the claim's rows there.")

    def _places(self, evidence: Evidence, dataset: str) -> list[RunPlace]:
        rows = {self.method, self.steadier or self.method}
        return [place for place in evidence.places if place.place.dataset == dataset and rows <= set(place.rows)]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio of the shares."""
        clean, noisy = (
            self._quantities(evidence, place)
            for name in (self.clean, self.noisy)
            for place in self._places(evidence, name)
            if place.place.protocol == case.place.protocol
        )
        both = Resampled(np.hstack([clean.means, noisy.means]), np.hstack([clean.samples, noisy.samples]))
        found = both.difference(log_ratio)
        return Effect(math.exp(found.value), math.exp(found.low), math.exp(found.high), found.p, 1.0)

    def _quantities(self, evidence: Evidence, place: RunPlace) -> Resampled:
        """Return the method's metric and the steadier quantity."""
        if self.cutoff is None:
            return evidence.resampled(place.place, [self.method, self.steadier or self.method], self.metric)
        own = evidence.resampled(place.place, [self.method], self.metric)
        siblings = evidence.sibling_precisions(place.place, [self.method], self.cutoff)
        return Resampled(np.hstack([own.means, siblings.means[1:]]), np.hstack([own.samples, siblings.samples[:, 1:]]))


def log_ratio(values: Values) -> Values:
    """Return the logarithm of the effect; (m, 4): metric and steadier quantity, on clean and on noisy labels."""
    metric, steadier, noisy_metric, noisy_steadier = np.log(values.clip(1e-12)).T
    found: Values = (noisy_steadier - steadier) - (noisy_metric - metric)
    return found
