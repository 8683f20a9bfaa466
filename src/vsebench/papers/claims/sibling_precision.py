"""Difference in sibling precision, or in its ratio to precision, between two methods, over images and seeds."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.evaluation.ranking import LIST_LENGTH
from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Evidence, Measurement, Values, difference


class SiblingPrecision(AgainstRivals):
    """More of the method's first labels than of each rival's first labels are correct labels or siblings of these."""

    effect: ClassVar[str] = "difference of sibling precision, or of its ratio to precision (claimed: above 0)"
    reads: ClassVar[tuple[str, ...]] = ("lists",)

    cutoff: int = Field(ge=1, le=LIST_LENGTH)
    ratio: bool = False  # whether the ratio of sibling precision to precision is compared instead

    def measured(self) -> list[str]:
        name = f"sibling_precision@{self.cutoff}"
        return [f"{name} over precision@{self.cutoff}" if self.ratio else name]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        both = evidence.sibling_precisions(case.task, [self.method, case.rival], self.cutoff)
        return difference(both, of_ratios if self.ratio else of_siblings)


def of_siblings(values: Values) -> Values:
    """Return the difference of sibling precision, given (m, 4): precision and sibling precision of two methods."""
    return values[:, 1] - values[:, 3]


def of_ratios(values: Values) -> Values:
    """Return the method's ratio of sibling precision to precision, minus that of the rival."""
    ours, theirs = (values[:, n + 1] / values[:, n].clip(1e-12) for n in (0, 2))
    return np.asarray(ours - theirs)


TESTS = {"sibling_precision": SiblingPrecision}
