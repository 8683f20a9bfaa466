"""Time to score a test image: ratio of the rival's to the method's, one pair per repeat; the repeats take turns."""

from typing import ClassVar

from pydantic import Field

from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, ratio


class ScoringTime(AgainstRivals):
    """Scoring all labels for new images takes the method less time: each rival needs a multiple of it."""

    effect: ClassVar[str] = "ratio (claimed: above the claim's bound)"
    on_simulated: ClassVar[bool] = True  # a claim on cost

    times: float = Field(ge=1)

    def measured(self) -> list[str]:
        """Return the one quantity."""
        return ["seconds per test image, ratio"]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio of the rival's seconds to the method's, over the same images."""
        ours, theirs = (
            evidence.median_by_repeat(case.place, row, "seconds", phase="score") for row in (self.method, case.rival)
        )
        return ratio(theirs, ours, "repeats", self.times)
