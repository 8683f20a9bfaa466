"""Claims that a method needs less time or fewer epochs than another to reach its best epoch or a given quality."""

import json
from typing import Literal

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.core.tasks import Task
from vsebench.evaluation.convergence import seconds_by_seed, to_best_epoch
from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.claims.ratios import MultipleOfRival, at
from vsebench.papers.evidence import UNKNOWN, Evidence, Measurement, UntestableError, Values, check_repeats, ratio


class TimeToConverge(MultipleOfRival):
    """The method reaches its best epoch in less training time, or fewer epochs, than each rival.

    The value of the rival, divided by that of the method, must be above `times`, which is 1 by default.
    """

    pairs = "seeds"
    searched = True

    counted_in: Literal["seconds", "epochs"] = "seconds"

    def measured(self) -> list[str]:
        return [f"{self.counted_in} to best epoch, ratio"]

    def is_measured_cost(self) -> bool:
        return self.counted_in == "seconds"

    def values(self, evidence: Evidence, task: Task, variant: str) -> Values:
        if self.counted_in == "epochs":
            return to_best_epoch(at(evidence.history, task, variant))["epoch"].cast(pl.Float64).to_numpy()
        timing = at(evidence.timing, task, variant)
        seconds = seconds_by_seed(timing)
        if not seconds:
            raise UntestableError("Training up to the best epoch was not timed; set timing.to_best_epoch: true.")
        check_repeats(timing["repeat"].n_unique(), "timing.repeats")
        return np.array(list(seconds.values()))

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        """Return the ratio, or `UNKNOWN` if the limit on epochs stopped a fit (see `obstacle`)."""
        measured = super().measure(evidence, case)
        return UNKNOWN if evidence.stopped(case.task, self.method, case.rival) else measured

    def obstacle(self, evidence: Evidence, case: ClaimCase) -> str | None:
        ours, theirs = (evidence.stopped(case.task, variant) for variant in (self.method, case.rival))
        if not (ours or theirs):
            return super().obstacle(evidence, case)
        value = f"at {'most' if ours else 'least'} {super().measure(evidence, case).effect().value:.3g}"
        return " ".join(filter(None, [ours, theirs, f"So the ratio is {'unknown' if ours and theirs else value}."]))


class TimeToShare(AgainstRivals):
    """To reach the same quality, each rival needs more than `times` times the method's training time.

    The quality is chosen for each seed. It is a given share of the best validation metric of the worse of the two
    methods, so both methods reach it.
    """

    effect = "ratio (claimed: above the claim's bound)"
    searched = True
    on_simulated = True  # a claim on cost

    share: float = Field(gt=0, le=1)
    times: float = Field(ge=1)

    def measured(self) -> list[str]:
        return [f"seconds to {100 * self.share:g} % of the best validation metric, ratio"]

    def is_measured_cost(self) -> bool:
        return True

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        task = case.task
        chosen = evidence.history.filter(phase="selection", dataset=task.dataset, protocol=task.protocol)
        seeds = evidence.common_seeds(task, self.method, case.rival)
        check_repeats(len(seeds), "seeds")
        both = [self._seconds(chosen.filter(seed=seed), case.rival) for seed in seeds]
        ours, theirs = np.array(both).T
        measured = ratio(theirs, ours, "seeds", self.times)
        return UNKNOWN if evidence.stopped(task, self.method, case.rival) else measured

    def _seconds(self, history: pl.DataFrame, rival: str) -> tuple[float, float]:
        """Return the training seconds that the method and the rival need to reach the quality with one seed.

        `history` contains the rows of the table HISTORY for this seed.
        """
        both = [curve(history.filter(method=variant)) for variant in (self.method, rival)]
        if not all(len(values) for _, values in both):
            raise UntestableError(f"The run did not validate both {self.method} and {rival} epoch by epoch.")
        target = self.share * min(values.max() for _, values in both)
        ours, theirs = (float(seconds[np.argmax(values >= target)]) for seconds, values in both)
        return ours, theirs

    def obstacle(self, evidence: Evidence, case: ClaimCase) -> str | None:
        stopped = evidence.stopped(case.task, self.method, case.rival)
        return f"{stopped} So the ratio is unknown." if stopped else super().obstacle(evidence, case)


def curve(history: pl.DataFrame) -> tuple[Values, Values]:
    """Return the training seconds up to the end of each validated epoch, and the validation metrics of these epochs."""
    epochs = history.sort("epoch").with_columns(elapsed=pl.col("seconds").cum_sum())
    validated = epochs.filter(pl.col("validation").is_not_null())
    return validated["elapsed"].to_numpy(), validated["validation"].to_numpy()


class EpochsAtEqualSettings(AgainstRivals):
    """The method reaches its best epoch in fewer epochs than each rival if both are fitted with the same settings.

    The compared fits are those of the searches for settings, by this run or an earlier one. Every configuration that
    was tried for both methods counts, unless training diverged with one of the methods. If the limit on epochs ended
    one of these fits, the claim cannot be tested, because a later epoch may have been better.
    """

    effect = "ratio (claimed: above 1)"

    def measured(self) -> list[str]:
        return ["best epoch at equal settings, ratio"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        ours, theirs = (epochs_tried(evidence, case.task, variant) for variant in (self.method, case.rival))
        n_seeds = max(map(len, ours.values()), default=0)
        shared = [[ours[key], theirs[key]] for key in ours if len(ours[key]) == len(theirs.get(key, [])) == n_seeds]
        both = np.array([epochs for epochs in shared if None not in (*epochs[0], *epochs[1])], dtype=np.float64)
        if not both.size:
            raise UntestableError(
                f"No settings are known that a search tried with both {self.method} and {case.rival}."
            )
        if np.isinf(both).any():
            raise UntestableError(
                f"At settings that {self.method} and {case.rival} share, the limit on epochs ended training too early."
            )
        means = np.exp(np.log(both).mean(axis=0))  # (method and rival, seeds)
        return ratio(means[1], means[0], "seeds of the search")


def epochs_tried(evidence: Evidence, task: Task, variant: str) -> dict[str, list[float | None]]:
    """Return the best epochs of each configuration that the searches for a variant's settings tried.

    The keys are the settings as JSON. The values are lists with one epoch per seed of the search. An epoch is None if
    training diverged. If the limit on epochs ended training with one of the seeds, all epochs of these settings are
    infinite.
    """
    epochs: dict[str, list[float | None]] = {}
    for model in evidence.cases(task, variant):
        for tried in evidence.tries.get(model, []):
            by_seed = tried["epochs_by_seed"] if "epochs_by_seed" in tried else [tried["epochs"]]
            of_settings = epochs.setdefault(json.dumps(tried["settings"], sort_keys=True), [])
            of_settings += [float("inf")] * len(by_seed) if tried["at_limit"] else by_seed
    return epochs
