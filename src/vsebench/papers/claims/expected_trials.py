"""Expected draws of a WARP step by the true rank, against a bound; exact sums."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.papers.claim import ClaimCase, ClaimTest, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence, Values
from vsebench.papers.verdict import Verdict


class ExpectedTrials(ClaimTest):
    """A step scores at most 1 + min((Y - 1) / k, Y - 1) labels on average, k being the violators."""

    effect: ClassVar[str] = "largest expected number of scores over the bound (claimed: at most 1)"

    labels: list[int] = Field(min_length=1)  # numbers of labels Y

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per number of labels, without a place."""
        for labels in self.labels:
            yield ClaimCase(f"scores of a step over the bound, Y = {labels}")

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the largest ratio over all ranks k = 0 .. Y - 1."""
        negatives = int(case.measured.rpartition(" ")[2]) - 1
        k = np.arange(negatives + 1)
        bound = 1 + np.minimum(negatives / np.maximum(k, 1), negatives)
        value = float(((1 + trials(negatives)) / bound).max())
        return Effect(value, value, value, None, 1.0)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the exact value, up to rounding."""
        return judge_by_interval(effect, 0.0, 1.0 + 1e-12)


def trials(negatives: int) -> Values:
    """Return the expected draws until a violator or until `negatives` draws, for k = 0 .. `negatives` violators.

    E[N] = sum of (1 - p)^n over n = 0 .. negatives - 1, p = k / negatives.
    """
    miss = 1 - np.arange(negatives + 1) / negatives
    found: Values = np.array([np.sum(share ** np.arange(negatives)) for share in miss])
    return found
