"""Claims for which no test exists; the table of verdicts lists them with the reason."""

from collections.abc import Iterator

from pydantic import Field

from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import Evidence, Measurement, UntestableError


class Untested(ClaimTest):
    """The claim is not tested."""

    effect = "none (no test)"

    reason: str = Field(min_length=1)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        raise UntestableError(self.reason)

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        raise UntestableError(self.reason)
