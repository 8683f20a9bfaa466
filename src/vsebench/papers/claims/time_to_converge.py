"""Training time up to the best epoch: ratio of the rival's to the method's, one pair per seed."""

from typing import ClassVar

from vsebench.evaluation.convergence import to_best_epoch
from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, ratio


class TimeToConverge(AgainstRivals):
    """The method converges in less training time than each rival."""

    effect: ClassVar[str] = "ratio (claimed: above 1)"

    def measured(self) -> list[str]:
        """Return the one quantity."""
        return ["seconds to best epoch, ratio"]

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the ratio of the rival's training seconds up to its best epoch to the method's."""
        history = evidence.history.filter(dataset=case.place.dataset, protocol=case.place.protocol)
        best = (to_best_epoch(history.filter(method=row)) for row in (self.method, case.rival))
        ours, theirs = (seeds["seconds"].to_numpy() for seeds in best)
        return ratio(theirs, ours, "seeds")
