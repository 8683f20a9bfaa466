"""The sampling of a step of WARP with k violators among Y - 1 negatives: exact sums, independent of a run."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import Evidence, Measurement, Values, exact

ROUNDING = 1e-12  # largest rounding error of sums of thousands of terms


class ByNumberOfLabels(ClaimTest):
    """A test for each of several numbers of labels."""

    quantity: ClassVar[str]

    labels: list[int] = Field(min_length=1)  # numbers of labels Y

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        for labels in self.labels:
            yield ClaimCase(f"{self.quantity}, Y = {labels}", n_labels=labels)


class ExpectedTrials(ByNumberOfLabels):
    """A step scores at most 1 + min((Y - 1) / k, Y - 1) labels on average, for all k = 0 .. Y - 1."""

    effect: ClassVar[str] = "largest ratio of the expected number of scores to the bound (claimed: at most 1)"
    quantity: ClassVar[str] = "scores of a step over the bound"

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        negatives = case.n_labels - 1
        k = np.arange(negatives + 1)
        bound = 1 + np.minimum(negatives / np.maximum(k, 1), negatives)
        return exact(float(((1 + trials(negatives)) / bound).max()), 1.0)

    def bounds(self) -> Sequence[float]:
        return 0.0, 1.0 + ROUNDING


def trials(negatives: int) -> Values:
    """Return the expected number of draws, at most `negatives`, up to the first of k = 0 .. `negatives` violators.

    E[N] = sum of (1 - p)^n over n = 0 .. negatives - 1, p = k / negatives.
    """
    miss = 1 - np.arange(negatives + 1) / negatives
    return np.array([np.sum(share ** np.arange(negatives)) for share in miss])


class SampledRank(ByNumberOfLabels):
    """WARP's sampled loss L~ is a ranking loss: L~(k) = a_1 + .. + a_k with a_1 >= a_2 >= .. >= 0.

    Draws are with replacement. The first of k violators is drawn at draw N with probability (1 - p)^(N - 1) p, where
    p = k / (Y - 1); after Y - 1 draws without a violator, drawing ends with loss 0. So the expected loss is
    L~(k) = E[L(floor((Y - 1) / N))], where L(k) = 1 + 1/2 + .. + 1/k.
    """

    effect: ClassVar[str] = "smallest of all a_k and a_k - a_(k + 1) (claimed: at least 0)"
    quantity: ClassVar[str] = "increments of the loss"

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        increments = np.diff(sampled_loss(case.n_labels), prepend=0.0)
        return exact(float(min(increments.min(), -np.diff(increments).max())), 0.0)

    def bounds(self) -> Sequence[float]:
        return -ROUNDING, float("inf")


def sampled_loss(labels: int) -> Values:
    """Return L~(k) for k = 1 .. Y - 1, (Y - 1,)."""
    negatives = labels - 1
    draws = np.arange(1, negatives + 1)
    weights = np.cumsum(1.0 / draws)[negatives // draws - 1]  # L(floor((Y - 1) / N)) for N = 1 .. Y - 1
    p = draws / negatives  # for k = 1 .. Y - 1
    return np.array([share * ((1 - share) ** (draws - 1) @ weights) for share in p])


TESTS = {"expected_trials": ExpectedTrials, "sampled_rank": SampledRank}
