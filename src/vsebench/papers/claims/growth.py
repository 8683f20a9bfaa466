"""How a time grows with a size: the exponent of a power law, measured on simulated data."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from vsebench.evaluation.growth import exponents
from vsebench.papers.claim import Bounds, ClaimCase, ClaimTest
from vsebench.papers.evidence import Effect, Evidence, Fixed, Measurement


class Growth(ClaimTest):
    """The time of an epoch, or to score an image, grows as a power of a size with an exponent within the bounds."""

    effect: ClassVar[str] = "exponent of growth (claimed: within the claim's bounds)"
    on_simulated: ClassVar[bool] = True  # because there one size can be varied on its own

    variable: Literal["pairs", "labels", "factors", "images", "terms"]  # images, terms: the time to score an image
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


TESTS = {"growth": Growth}
