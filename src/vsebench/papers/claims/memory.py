"""Peak memory of a training process: ratio of the method's to the rival's, one pair per repeat."""

from typing import ClassVar

from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, ratio


class Memory(AgainstRivals):
    """Training the method needs more memory than each rival."""

    effect: ClassVar[str] = "ratio (claimed: above 1)"

    def measured(self) -> list[str]:
        """Return the one quantity."""
        return ["peak memory, ratio"]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio of the method's peak memory to the rival's."""
        ours, theirs = (
            evidence.median_by_repeat(case.place, row, "peak_rss_bytes") for row in (self.method, case.rival)
        )
        return ratio(ours, theirs, "repeats")
