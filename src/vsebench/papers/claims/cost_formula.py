"""Error of a printed cost formula for the time of an epoch, measured on simulated data of several sizes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from pydantic import Field

from vsebench.evaluation.growth import half_width, largest_errors
from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import Effect, Evidence, Fixed, Measurement

Size = Literal["images", "labels", "pairs", "factors"]


class CostFormula(ClaimTest):
    """A sum of products of sizes, each with a fitted constant factor, is close to the time at every size."""

    effect: ClassVar[str] = "largest relative error of the formula (claimed: below the claim's bound)"
    on_simulated: ClassVar[bool] = True  # because there one size can be varied on its own

    terms: list[Mapping[Size, int]] = Field(min_length=1)  # {images: 1, factors: 2}: images times the factors' square
    within: float = Field(gt=0)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        yield ClaimCase("largest error of the formula", data="simulated")

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        """Return the largest error, averaged over repeats."""
        errors = largest_errors(evidence.times_of_sizes(self.method), self.terms)
        mean, half = float(errors.mean()), half_width(errors)
        return Fixed(Effect(mean, mean - half, mean + half, None, 0.0))

    def bounds(self) -> Sequence[float]:
        return float("-inf"), self.within


TESTS = {"cost_formula": CostFormula}
