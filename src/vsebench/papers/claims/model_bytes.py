"""Bytes of the saved models: ratio of the rival's to the method's, all numbers in the same precision."""

from typing import ClassVar

from pydantic import Field

from vsebench.papers.claim import AgainstRivals, ClaimCase, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence, UntestableError
from vsebench.papers.verdict import Verdict


class ModelBytes(AgainstRivals):
    """The method's model takes less memory: each rival's takes a multiple of it."""

    effect: ClassVar[str] = "ratio of bytes (claimed: at least the claim's bound; no chance in it)"
    on_simulated: ClassVar[bool] = True  # a claim on cost

    times: float = Field(ge=1)

    def measured(self) -> list[str]:
        """Return the one quantity."""
        return ["bytes of the model, ratio"]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio of the rival's bytes to the method's."""
        timing = evidence.timing.filter(dataset=case.place.dataset, protocol=case.place.protocol)
        ours, theirs = (timing.filter(method=row)["model_bytes"].max() for row in (self.method, case.rival))
        if not isinstance(ours, int) or not isinstance(theirs, int):
            raise UntestableError(f"The run did not time {self.method} and {case.rival}.")
        return Effect(theirs / ours, theirs / ours, theirs / ours, None, self.times)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the ratio by the claim's bound."""
        return judge_by_interval(effect, self.times, float("inf"))
