"""Claims about how a time grows with sizes of simulated data: by a power law, or as a printed formula says."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.evaluation.growth import exponents, half_width, largest_errors
from vsebench.papers.claim import Bounds, ClaimCase, ClaimTest
from vsebench.papers.evidence import Effect, Evidence, Fixed, Measurement

Size = Literal["images", "labels", "pairs", "factors"]


class Growth(ClaimTest):
    """The time per epoch, or per scored image, grows as a power of a size, with an exponent within the bounds."""

    effect = "exponent of growth (claimed: within the claim's bounds)"
    on_simulated = True  # only simulated data allow one size to vary while the others stay the same

    # The size. For images and terms, the time is that of scoring an image; for other sizes, it is that of an epoch.
    variable: Literal["pairs", "labels", "factors", "images", "terms"]
    between: Bounds | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _has_bounds(self) -> "Growth":
        if (self.between is None) == (self.at_most is None):
            raise PydanticCustomError("bounds", "give either `between` or `at_most`")
        return self

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        yield ClaimCase(f"exponent of {self.variable}", data="simulated")

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        fitted = exponents(evidence.times_of_sizes(self.method, self.variable))
        value, low, high = fitted.select("exponent", "ci_low", "ci_high").row(0)
        return Fixed(Effect(value, low, high, None, 0.0))

    def bounds(self) -> Sequence[float]:
        return self.between or (float("-inf"), self.at_most or 0.0)


class CostFormula(ClaimTest):
    """At every size, the time is close to the value of a cost formula.

    The formula is a constant plus products of sizes, each with a coefficient. The constant and the coefficients are
    fitted.
    """

    effect = "largest relative error of the formula (claimed: below the claim's bound)"
    on_simulated = True  # only simulated data allow one size to vary while the others stay the same

    terms: list[Mapping[Size, int]] = Field(min_length=1)  # {images: 1, factors: 2}: images times factors squared
    within: float = Field(gt=0)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        yield ClaimCase("largest error of the formula", data="simulated")

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        """Return the largest relative error of the formula, averaged over the repeats."""
        errors = largest_errors(evidence.times_of_sizes(self.method), self.terms)
        mean, half = float(errors.mean()), half_width(errors)
        return Fixed(Effect(mean, mean - half, mean + half, None, 0.0))

    def bounds(self) -> Sequence[float]:
        return float("-inf"), self.within
