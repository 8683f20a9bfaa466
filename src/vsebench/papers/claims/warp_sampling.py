"""How a step of WARP samples k violators among Y - 1 negatives: exact sums that need no run."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import Evidence, Measurement, Values, exact

ROUNDING = 1e-12  # largest rounding error of sums of thousands of terms


class SampledRank(ClaimTest):
    """WARP's sampled loss L~ is a ranking loss: L~(k) = a_1 + .. + a_k with a_1 >= a_2 >= .. >= 0.

    Draws are with replacement. The first of k violators is drawn at draw N with probability (1 - p)^(N - 1) p, where p
    = k / (Y - 1); after Y - 1 draws without a violator, drawing ends with loss 0. The expected loss is therefore
    L~(k) = E[L(floor((Y - 1) / N))], where L(k) = 1 + 1/2 + .. + 1/k.
    """

    effect: ClassVar[str] = "smallest of all a_k and a_k - a_(k + 1) (claimed: at least 0)"

    labels: list[int] = Field(min_length=1)  # numbers of labels Y

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        for labels in self.labels:
            yield ClaimCase(f"increments of the loss, Y = {labels}", n_labels=labels)

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


TESTS = {"sampled_rank": SampledRank}
