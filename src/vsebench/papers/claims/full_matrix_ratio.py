"""Numbers of a full matrix of weights over those of an embedding, by the formulas Y d and (Y + d) D."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from vsebench.papers.claim import ClaimCase, ClaimTest, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence
from vsebench.papers.verdict import Verdict


class FullMatrixRatio(ClaimTest):
    """At these sizes a full matrix has a multiple of the embedding's numbers; computed, so no run changes it."""

    effect: ClassVar[str] = "ratio by formula (claimed: at least the claim's bound)"

    labels: int = Field(ge=1)  # Y
    features: int = Field(ge=1)  # d
    factors: int = Field(ge=1)  # D
    times: float = Field(ge=1)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case, without a place."""
        yield ClaimCase(f"Y d / ((Y + d) D) at Y = {self.labels:,}, d = {self.features:,}, D = {self.factors:,}")

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio."""
        value = self.labels * self.features / ((self.labels + self.features) * self.factors)
        return Effect(value, value, value, None, self.times)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the ratio by the claim's bound."""
        return judge_by_interval(effect, self.times, float("inf"))
