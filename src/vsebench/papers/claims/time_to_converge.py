"""Training up to the best epoch, in seconds or epochs: ratio of the rival's to the method's, one pair per seed."""

from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.core.places import Place
from vsebench.evaluation.convergence import seconds_by_seed, to_best_epoch
from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, UntestableError, Values, ratio


class TimeToConverge(AgainstRivals):
    """The method converges in less training time, or fewer epochs, than each rival."""

    effect: ClassVar[str] = "ratio (claimed: above 1, or the claim's bound)"

    counted_in: Literal["seconds", "epochs"] = "seconds"
    times: float = Field(default=1.0, gt=0)  # how many times as long a rival takes at least

    def measured(self) -> list[str]:
        """Return the one quantity."""
        return [f"{self.counted_in} to best epoch, ratio"]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio of the rival's seconds or epochs up to its best epoch to the method's."""
        find = timed_seconds if self.counted_in == "seconds" else epochs
        theirs, ours = (find(evidence, case.place, row) for row in (case.rival, self.method))
        return ratio(theirs, ours, "seeds", self.times)


def timed_seconds(evidence: Evidence, place: Place, row: str) -> Values:
    """Return the seconds of training up to the best epoch of each timed seed, (n_seeds,)."""
    found = seconds_by_seed(at(evidence.timing, place, row))
    if not found:
        raise UntestableError("Training up to the best epoch was not timed; it needs timing.to_best_epoch: true.")
    return np.array(list(found.values()))


def epochs(evidence: Evidence, place: Place, row: str) -> Values:
    """Return the best epoch of each seed, (n_seeds,)."""
    return to_best_epoch(at(evidence.history, place, row))["epoch"].cast(pl.Float64).to_numpy()


def at(table: pl.DataFrame, place: Place, row: str) -> pl.DataFrame:
    """Return the rows of a table that are of one row of the run at one place."""
    return table.filter(dataset=place.dataset, protocol=place.protocol, method=row)
