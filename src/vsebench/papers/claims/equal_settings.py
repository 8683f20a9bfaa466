"""Ratio of two methods' numbers of epochs up to the best epoch, both fitted with the same settings."""

import json
from typing import ClassVar

import numpy as np

from vsebench.core.tasks import Task
from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Evidence, Measurement, UntestableError, ratio


class EpochsAtEqualSettings(AgainstRivals):
    """The method reaches its best epoch in fewer epochs than each rival, with the same settings.

    The fits are taken from the run's search. All configurations that both methods tried count, except those with which
    one of them diverged. If the limit on epochs ended one of these fits, its best epoch and the ratio are unknown.
    """

    effect: ClassVar[str] = "ratio (claimed: above 1)"

    def measured(self) -> list[str]:
        return ["epochs to best epoch at equal settings, ratio"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        ours, theirs = (epochs_tried(evidence, case.task, variant) for variant in (self.method, case.rival))
        n_seeds = max(map(len, ours.values()), default=0)
        shared = [[ours[key], theirs[key]] for key in ours if len(ours[key]) == len(theirs.get(key, [])) == n_seeds]
        both = np.array([epochs for epochs in shared if None not in (*epochs[0], *epochs[1])], dtype=np.float64)
        if not both.size:
            raise UntestableError(f"The run trained {self.method} and {case.rival} with no settings in common.")
        if np.isinf(both).any():
            raise UntestableError(
                f"With settings that {self.method} and {case.rival} share, a limit on epochs ended training too early."
            )
        means = np.exp(np.log(both).mean(axis=0))  # (method and rival, seeds)
        return ratio(means[1], means[0], "seeds of the search")


def epochs_tried(evidence: Evidence, task: Task, variant: str) -> dict[str, list[float | None]]:
    """Return the settings that a search tried -> the best epoch with each of its seeds.

    The epoch is None if training diverged, and infinite if the limit on epochs ended training with one of the seeds.
    """
    assert evidence.selection is not None
    epochs: dict[str, list[float | None]] = {}
    for model in evidence.cases(task, variant):
        selection = evidence.selection(model)
        if selection.get("settings_of_seed") is not None:
            continue  # it uses the settings from another seed's search
        for tried in selection.get("tries", []):
            by_seed = tried.get("epochs_by_seed", [tried["epochs"]])
            of_settings = epochs.setdefault(json.dumps(tried["settings"], sort_keys=True), [])
            of_settings += [float("inf")] * len(by_seed) if tried["at_limit"] else by_seed
    return epochs


TESTS = {"epochs_at_equal_settings": EpochsAtEqualSettings}
