"""The full-sample loss of VSE-fs on the training labels: ratio of the rival's to the method's, one pair per seed."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, UntestableError, Values, ratio


class FullSampleLoss(AgainstRivals):
    """The method ends with a smaller full-sample loss than each rival, whose scores are scaled as suits them best."""

    effect: ClassVar[str] = "ratio (claimed: above 1)"
    reads: ClassVar[tuple[str, ...]] = ("full_sample_loss",)

    beta_0: float = Field(gt=0)  # total weight of the non-positive pairs of an image

    def rows_read(self) -> list[str]:
        """Return the method and its rivals."""
        return [self.method, *self.rivals]

    def measured(self) -> list[str]:
        """Return the one quantity."""
        return ["full-sample loss, ratio"]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio of the rival's loss to the method's."""
        ours, theirs = (self._losses(evidence, case, row) for row in (self.method, case.rival))
        return ratio(theirs, ours, "seeds")

    def _losses(self, evidence: Evidence, case: ClaimCase, row: str) -> Values:
        """Return the loss of each seed, (n_seeds,)."""
        found = evidence.requested("full_sample_loss", case.place, row).filter(beta_0=self.beta_0).sort("seed")
        if found.is_empty():
            raise UntestableError(f"The run has no full-sample loss of {row} with beta_0 = {self.beta_0:g}.")
        losses: Values = found["loss"].to_numpy().astype(np.float64)
        return losses
