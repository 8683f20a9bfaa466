"""What a step of WARP samples, by the number k of violators among Y - 1 negatives; exact sums, which no run changes."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import Effect, Evidence, Values, exact

ROUNDING = 1e-12  # of sums of thousands of terms


class ExpectedTrials(ClaimTest):
    """A step scores at most 1 + min((Y - 1) / k, Y - 1) labels on average, k being the violators."""

    effect: ClassVar[str] = "largest expected number of scores over the bound (claimed: at most 1)"

    labels: list[int] = Field(min_length=1)  # numbers of labels Y

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per number of labels, without a task."""
        for labels in self.labels:
            yield ClaimCase(f"scores of a step over the bound, Y = {labels}", n_labels=labels)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the largest ratio over all ranks k = 0 .. Y - 1."""
        negatives = case.n_labels - 1
        k = np.arange(negatives + 1)
        bound = 1 + np.minimum(negatives / np.maximum(k, 1), negatives)
        return exact(float(((1 + trials(negatives)) / bound).max()), 1.0)

    def bounds(self) -> Sequence[float]:
        return 0.0, 1.0 + ROUNDING


def trials(negatives: int) -> Values:
    """Return the expected draws until a violator or until `negatives` draws, for k = 0 .. `negatives` violators.

    E[N] = sum of (1 - p)^n over n = 0 .. negatives - 1, p = k / negatives.
    """
    miss = 1 - np.arange(negatives + 1) / negatives
    found: Values = np.array([np.sum(share ** np.arange(negatives)) for share in miss])
    return found


class SampledRank(ClaimTest):
    """WARP's sampled loss is a ranking loss: its increments a_k are never negative and never grow.

    With k violators among Y - 1 negatives and draws with replacement, the first violator comes at draw N with
    probability (1 - p)^(N - 1) p, p = k / (Y - 1), and drawing ends without one after Y - 1 draws. The loss is then
    L~(k) = E[L(floor((Y - 1) / N))], L(k) = 1 + 1/2 + .. + 1/k. It has the form L~(k) = a_1 + .. + a_k; the family
    asks for a_1 >= a_2 >= .. >= 0.
    """

    effect: ClassVar[str] = "smallest of all a_k and a_k - a_(k + 1) (claimed: at least 0)"

    labels: list[int] = Field(min_length=1)  # numbers of labels Y

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per number of labels, without a task."""
        for labels in self.labels:
            yield ClaimCase(f"increments of the loss, Y = {labels}", n_labels=labels)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the smallest of the increments and of their decreases."""
        increments = np.diff(sampled_loss(case.n_labels), prepend=0.0)
        return exact(float(min(increments.min(), -np.diff(increments).max())), 0.0)

    def bounds(self) -> Sequence[float]:
        return -ROUNDING, float("inf")


def sampled_loss(labels: int) -> Values:
    """Return L~(k) for k = 1 .. Y - 1, (Y - 1,)."""
    negatives = labels - 1
    draws = np.arange(1, negatives + 1)
    weights = np.cumsum(1.0 / draws)[negatives // draws - 1]  # L(floor((Y - 1) / N)) for N = 1 .. Y - 1
    p = draws / negatives  # of k = 1 .. Y - 1
    found: Values = np.array([share * ((1 - share) ** (draws - 1) @ weights) for share in p])
    return found


TESTS = {"expected_trials": ExpectedTrials, "sampled_rank": SampledRank}
