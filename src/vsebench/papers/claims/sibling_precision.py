"""Sibling precision of two methods: difference of the means, and of its ratio to precision, over images and seeds."""

from typing import ClassVar

from pydantic import Field

from vsebench.evaluation.ranking import LIST_LENGTH
from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, Values, difference


class SiblingPrecision(AgainstRivals):
    """More of the method's first labels than of each rival's are right or a sibling of a right one."""

    effect: ClassVar[str] = "difference of sibling precision, or of its ratio to precision (claimed: above 0)"

    reads: ClassVar[tuple[str, ...]] = ("lists",)

    cutoff: int = Field(ge=1, le=LIST_LENGTH)
    ratio: bool = False  # whether the ratio of sibling precision to precision is compared as well

    def measured(self) -> list[str]:
        """Return the sibling precision and, if it is compared, its ratio to precision."""
        name = f"sibling_precision@{self.cutoff}"
        return [name, f"{name} over precision@{self.cutoff}"] if self.ratio else [name]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the difference between the method and the rival."""
        found = evidence.sibling_precisions(case.task, [self.method, case.rival], self.cutoff)
        statistic = of_siblings if case.measured == self.measured()[0] else of_ratios
        return difference(found, statistic)


def of_siblings(values: Values) -> Values:
    """Return the difference of sibling precision; (m, 4): precision and sibling precision of two variants."""
    return values[:, 1] - values[:, 3]


def of_ratios(values: Values) -> Values:
    """Return the difference of sibling precision over precision."""
    ours, theirs = (values[:, n + 1] / values[:, n].clip(1e-12) for n in (0, 2))
    found: Values = ours - theirs
    return found


TESTS = {"sibling_precision": SiblingPrecision}
