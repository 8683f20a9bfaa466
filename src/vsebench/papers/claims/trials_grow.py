"""How the number of negatives examined per step grows: ratio of the last tenth of epochs to the first tenth."""

from typing import ClassVar

import numpy as np

from vsebench.papers.claim import AtTasks, ClaimCase
from vsebench.papers.evidence import Evidence, Measurement, UntestableError, ratio


class TrialsGrow(AtTasks):
    """The method examines more and more negatives per training step."""

    effect: ClassVar[str] = "ratio (claimed: above 1)"

    def measured(self) -> list[str]:
        return ["trials per step, last tenth over first"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        refit = evidence.history.filter(
            phase="refit", dataset=case.task.dataset, protocol=case.task.protocol, method=self.method
        ).sort("seed", "epoch")
        if refit["trials_per_step"].null_count():
            raise UntestableError(f"The method {self.method} does not count trials.")
        late, early = [], []
        for _, epochs in refit.group_by("seed", maintain_order=True):
            trials = epochs["trials_per_step"].to_numpy()
            tenth = max(1, len(trials) // 10)
            late.append(trials[-tenth:].mean())
            early.append(trials[:tenth].mean())
        return ratio(np.array(late), np.array(early), "seeds")


TESTS = {"trials_grow": TrialsGrow}
