"""Whether the scores that minimise a loss over pairs of labels are what a theorem says; exact risks.

The theorem: the minimiser is f_u = log P(u in Y) + c, and so orders labels by their probabilities. Distributions over
label sets are drawn at random, and the risk of each is minimised (`papers.pair_risks`).
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from vsebench.papers.claim import ClaimCase, ClaimTest, judge_by_interval
from vsebench.papers.evidence import Effect, Evidence
from vsebench.papers.pair_risks import Loss, Sets, distance_from_formula, draw, minimisers, violates_order
from vsebench.papers.verdict import Verdict

SEED = 1
EXACT = 1e-3  # a minimiser this close to the formula is the formula
WORDS = {"any": "any label sets", "independent": "independent labels", "one_label": "one label per image"}


class Minimiser(ClaimTest):
    """The minimiser orders labels by their probabilities, or is the logarithm of these, for every distribution."""

    effect: ClassVar[str] = (
        "share of random distributions whose minimiser has a less probable label above a more probable one, or its "
        "largest distance from log P + c (claimed: 0)"
    )

    loss: Loss
    sets: Sets  # which distributions
    says: Literal["order", "formula"]
    labels: list[Annotated[int, Field(ge=2, le=8)]] = Field(min_length=1)  # numbers of labels K
    draws: int = Field(ge=1)  # distributions

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per number of labels, without a task."""
        for labels in self.labels:
            yield ClaimCase(f"{self.says} of the minimiser, {WORDS[self.sets]}, K = {labels}")

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the share of violated orders, or the largest distance from the formula."""
        labels = int(case.measured.rpartition(" ")[2])
        chances = draw(self.sets, labels, self.draws, np.random.default_rng(SEED))
        scores = minimisers(chances, self.loss)
        found = violates_order(scores, chances) if self.says == "order" else distance_from_formula(scores, chances)
        value = float(found.mean() if self.says == "order" else found.max())
        return Effect(value, value, value, None, 0.0)

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge the value: one violated order is enough to fail."""
        return judge_by_interval(effect, 0.0, 0.0 if self.says == "order" else EXACT)


TESTS = {"minimiser": Minimiser}
