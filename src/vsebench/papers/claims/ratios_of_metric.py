"""Claims about ratios of the methods' metrics, where a metric is a mean over images and seeds.

The claims are judged by the intervals of the ratios.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import Field

from vsebench.papers.claim import AtTasks, ClaimCase
from vsebench.papers.evidence import Evidence, ImageMetricName, Measurement, MetricName, Values, interval


class GainOverBest(AtTasks):
    """The relative gain of an ensemble over its best member is at least the bound `at_least`."""

    effect = "relative gain over the best member (claimed: at least the claim's bound)"
    searched = True

    members: list[str] = Field(min_length=1)  # variants
    metrics: list[MetricName] = Field(min_length=1)
    at_least: float = Field(ge=0)

    def others(self) -> list[str]:
        return self.members

    def sized(self) -> list[str]:
        return self.members

    def fits(self, case: ClaimCase) -> list[str]:
        return [self.method, *self.members]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        metrics = evidence.resampled(case.task, [self.method, *self.members], case.measured)
        best = 1 + int(metrics.means[1:].argmax())

        def gain(values: Values) -> Values:
            return np.asarray(values[:, 0] / values[:, best].clip(1e-12) - 1)

        return interval(metrics, gain, self.at_least)

    def bounds(self) -> Sequence[float]:
        return self.at_least, float("inf")


class ShareOfMetric(AtTasks):
    """The metric of a control method, such as popularity, is less than a given share of the method's metric."""

    effect = "the control's share of the method's metric (claimed: below the claim's bound)"
    searched = True

    control: str  # a variant, such as popularity
    metric: MetricName
    below: float = Field(gt=0)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        for task in self.tasks(evidence, self.control):
            yield ClaimCase.at(task, self.metric, self.control)

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        both = evidence.resampled(case.task, [self.control, self.method], self.metric)
        return interval(both, share, self.below)

    def possible(self, measured: str) -> tuple[float, float]:
        return 0.0, float("inf")

    def bounds(self) -> Sequence[float]:
        return float("-inf"), self.below


def share(values: Values) -> Values:
    """Return the first column divided by the second; 1 if the second is 0."""
    control, method = values.T
    return np.where(method > 0, control / np.where(method > 0, method, 1), 1.0)


class SizeSpread(AtTasks):
    """A metric depends little on a size: its spread over variants of different sizes is below a bound.

    The spread is (largest mean - smallest mean) / largest mean. Noise makes it too large rather than too small, because
    the extremes of noisy means are further apart than the extremes of the true means.
    """

    effect = "spread of a metric over sizes (claimed: below the claim's bound)"
    searched = True
    reads = ("lists",)

    sizes: list[str] = Field(min_length=2)  # variants
    metrics: list[ImageMetricName] = Field(min_length=1)
    below: float = Field(gt=0)

    def others(self) -> list[str]:
        return self.sizes

    def sized(self) -> list[str]:
        return self.sizes

    def fits(self, case: ClaimCase) -> list[str]:
        return self.sizes

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        name, _, cutoff = case.measured.partition("@")
        if name == "sibling_precision":
            both = evidence.sibling_precisions(case.task, self.sizes, int(cutoff))
            return interval(both, spread_of_siblings, self.below)
        return interval(evidence.resampled(case.task, self.sizes, case.measured), spread, self.below)

    def possible(self, measured: str) -> tuple[float, float]:
        return 0.0, 1.0

    def bounds(self) -> Sequence[float]:
        return float("-inf"), self.below


def spread(values: Values) -> Values:
    """Return (largest value - smallest value) / largest value for each row; 0 for a row of zeros."""
    largest = values.max(axis=1)
    return np.asarray((largest - values.min(axis=1)) / largest.clip(1e-12))


def spread_of_siblings(values: Values) -> Values:
    """Return the spread of the sibling precision over sizes for each row, as an array of shape (m,).

    `values`, (m, 2 n_sizes), has two columns for each size: the precision, and then the sibling precision.
    """
    return spread(values[:, 1::2])
