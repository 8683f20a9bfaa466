"""Training time to a share of the best validation metric: ratio of the rival's to the method's, one pair per seed."""

from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, UntestableError, Values, ratio


class TimeToShare(AgainstRivals):
    """The method comes to the same quality in less training time: each rival needs a multiple of it.

    The quality is a share of the best validation metric that the worse of the two rows reaches with a seed, so that
    both do reach it.
    """

    effect: ClassVar[str] = "ratio (claimed: above the claim's bound)"
    on_simulated: ClassVar[bool] = True  # a claim on cost

    share: float = Field(gt=0, le=1)
    times: float = Field(ge=1)

    def measured(self) -> list[str]:
        """Return the one quantity."""
        return [f"seconds to {100 * self.share:g} % of the best validation metric, ratio"]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio of the rival's training seconds to the method's."""
        place = case.place
        chosen = evidence.history.filter(phase="selection", dataset=place.dataset, protocol=place.protocol)
        pairs = [self._seconds(chosen.filter(seed=seed), case.rival) for seed in evidence.seeds]
        ours, theirs = np.array(pairs).T
        return ratio(theirs, ours, "seeds", self.times)

    def _seconds(self, history: pl.DataFrame, rival: str) -> tuple[float, float]:
        """Return the method's and the rival's seconds, with one seed."""
        both = [curve(history.filter(method=row)) for row in (self.method, rival)]
        if not all(len(values) for _, values in both):
            raise UntestableError(f"The run did not validate {self.method} and {rival} epoch by epoch.")
        target = self.share * min(values.max() for _, values in both)
        ours, theirs = (float(seconds[np.argmax(values >= target)]) for seconds, values in both)
        return ours, theirs


def curve(history: pl.DataFrame) -> tuple[Values, Values]:
    """Return the training seconds up to each validated epoch, and the validation metric there."""
    epochs = history.sort("epoch").with_columns(elapsed=pl.col("seconds").cum_sum())
    validated = epochs.filter(pl.col("validation").is_not_null())
    return validated["elapsed"].to_numpy(), validated["validation"].to_numpy()
