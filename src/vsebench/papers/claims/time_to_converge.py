"""Training up to the best epoch, in seconds or epochs: ratio of the rival's to the method's, one pair per seed."""

from typing import ClassVar, Literal

import polars as pl

from vsebench.evaluation.convergence import to_best_epoch
from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, ratio


class TimeToConverge(AgainstRivals):
    """The method converges in less training time, or fewer epochs, than each rival."""

    effect: ClassVar[str] = "ratio (claimed: above 1)"

    counted_in: Literal["seconds", "epochs"] = "seconds"

    def measured(self) -> list[str]:
        """Return the one quantity."""
        return [f"{self.counted_in} to best epoch, ratio"]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio of the rival's seconds or epochs up to its best epoch to the method's."""
        history = evidence.history.filter(dataset=case.place.dataset, protocol=case.place.protocol)
        best = (to_best_epoch(history.filter(method=row)) for row in (self.method, case.rival))
        column = {"seconds": "seconds", "epochs": "epoch"}[self.counted_in]
        ours, theirs = (seeds[column].cast(pl.Float64).to_numpy() for seeds in best)
        return ratio(theirs, ours, "seeds")
