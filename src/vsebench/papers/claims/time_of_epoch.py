"""Time of an epoch: ratio of the rival's to the method's, one pair per repeat; the repeats take turns."""

from typing import ClassVar

from pydantic import Field

from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, ratio


class TimeOfEpoch(AgainstRivals):
    """An epoch of the method takes less time than one of each rival."""

    effect: ClassVar[str] = "ratio (claimed: above 1, or the claim's bound)"

    times: float = Field(default=1.0, gt=0)  # how many times as long a rival's takes at least

    def measured(self) -> list[str]:
        """Return the one quantity."""
        return ["seconds per epoch, ratio"]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio of the rival's median seconds per epoch to the method's."""
        ours, theirs = (evidence.median_by_repeat(case.place, row, "seconds") for row in (self.method, case.rival))
        return ratio(theirs, ours, "repeats", self.times)
