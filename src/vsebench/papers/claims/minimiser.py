"""A theorem on the scores that minimise a loss over pairs of labels, tested on exact risks.

According to the theorem, the minimising scores are f_u = log P(u in Y) + c, so they order labels by probability. f_u is
the score of the label u, Y the label set of an image, and c a constant. The test draws random distributions over label
sets, and computes the minimising scores for each distribution (`papers.pair_risks`).
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import Evidence, Measurement, exact
from vsebench.papers.pair_risks import Loss, Sets, distance_from_formula, draw, minimisers, violates_order

SEED = 1
EXACT = 1e-3  # a minimiser at this distance from the formula, or less, counts as equal
WORDS = {"any": "any label sets", "independent": "independent labels", "one_label": "one label per image"}


class Minimiser(ClaimTest):
    """For every distribution over label sets, the scores that minimise the risk order the labels by probability.

    With `says: formula`, the claim is stronger: the scores equal the formula in the docstring of this module.
    """

    effect = (
        "share of random distributions whose minimiser ranks a less probable label above a more probable one "
        "(claimed: 0)"
    )

    loss: Loss
    sets: Sets  # the kind of distributions
    says: Literal["order", "formula"]
    labels: list[Annotated[int, Field(ge=2, le=8)]] = Field(min_length=1)  # numbers of labels, K
    draws: int = Field(ge=1)  # number of distributions

    def effect_in_words(self) -> str:
        return self.effect if self.says == "order" else "largest distance of the minimisers from log P + c (claimed: 0)"

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        for labels in self.labels:
            yield ClaimCase(f"{self.says} of the minimiser, {WORDS[self.sets]}, K = {labels}", n_labels=labels)

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        chances = draw(self.sets, case.n_labels, self.draws, np.random.default_rng(SEED))
        scores = minimisers(chances, self.loss)
        if self.says == "order":
            return exact(float(violates_order(scores, chances).mean()), 0.0)
        return exact(float(distance_from_formula(scores, chances).max()), 0.0)

    def bounds(self) -> Sequence[float]:
        return 0.0, 0.0 if self.says == "order" else EXACT
