"""WARP's sampled loss by the true rank: whether it is a ranking loss of the claimed family; exact sums.

With k violators among Y - 1 negatives and draws with replacement, the first violator comes at draw N with probability
(1 - p)^(N - 1) p, p = k / (Y - 1), and drawing ends without one after Y - 1 draws. The loss is then
L~(k) = E[L(floor((Y - 1) / N))], L(k) = 1 + 1/2 + .. + 1/k. It has the form L~(k) = a_1 + .. + a_k; the family asks for
a_1 >= a_2 >= .. >= 0.
"""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.papers.claim import ClaimCase, ClaimTest, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence, Values
from vsebench.papers.verdict import Verdict

ROUNDING = 1e-12  # of sums of thousands of terms


class SampledRank(ClaimTest):
    """The increments a_k of the sampled loss are never negative and never grow."""

    effect: ClassVar[str] = "smallest of all a_k and a_k - a_(k + 1) (claimed: at least 0)"

    labels: list[int] = Field(min_length=1)  # numbers of labels Y

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per number of labels, without a place."""
        for labels in self.labels:
            yield ClaimCase(f"increments of the loss, Y = {labels}")

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the smallest of the increments and of their decreases."""
        increments = np.diff(sampled_loss(int(case.measured.rpartition(" ")[2])), prepend=0.0)
        value = float(min(increments.min(), -np.diff(increments).max()))
        return Effect(value, value, value, None, 0.0)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the exact value, up to rounding."""
        return judge_by_interval(effect, -ROUNDING, float("inf"))


def sampled_loss(labels: int) -> Values:
    """Return L~(k) for k = 1 .. Y - 1, (Y - 1,)."""
    negatives = labels - 1
    draws = np.arange(1, negatives + 1)
    weights = np.cumsum(1.0 / draws)[negatives // draws - 1]  # L(floor((Y - 1) / N)) for N = 1 .. Y - 1
    p = draws / negatives  # of k = 1 .. Y - 1
    found: Values = np.array([share * ((1 - share) ** (draws - 1) @ weights) for share in p])
    return found
