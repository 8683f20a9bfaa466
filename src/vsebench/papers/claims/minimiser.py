"""Whether the scores that minimise a loss over pairs of labels are what a theorem says; exact risks.

The theorem: the minimiser is f_u = log P(u in Y) + c, and so orders labels by their probabilities. Distributions over
label sets are drawn at random, and the risk of each is minimised (`papers.pair_risks`).
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import Effect, Evidence, exact
from vsebench.papers.pair_risks import Loss, Sets, distance_from_formula, draw, minimisers, violates_order

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
            yield ClaimCase(f"{self.says} of the minimiser, {WORDS[self.sets]}, K = {labels}", n_labels=labels)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the share of violated orders, or the largest distance from the formula."""
        chances = draw(self.sets, case.n_labels, self.draws, np.random.default_rng(SEED))
        scores = minimisers(chances, self.loss)
        found = violates_order(scores, chances) if self.says == "order" else distance_from_formula(scores, chances)
        return exact(float(found.mean() if self.says == "order" else found.max()), 0.0)

    def bounds(self) -> Sequence[float]:
        """Return the bounds; one violated order is enough to fail."""
        return 0.0, 0.0 if self.says == "order" else EXACT


TESTS = {"minimiser": Minimiser}
