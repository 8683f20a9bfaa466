"""A claim that nothing here tests yet; the reason is said, so that a table of verdicts leaves no claim out."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import Effect, Evidence, UntestableError


class Untested(ClaimTest):
    """What a test would need."""

    effect: ClassVar[str] = "none (no test)"

    reason: str = Field(min_length=1)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Raise an `UntestableError` with the reason."""
        raise UntestableError(self.reason)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Raise an `UntestableError` with the reason."""
        raise UntestableError(self.reason)


TESTS = {"untested": Untested}
