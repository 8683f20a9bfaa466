"""How thresholds grow with the difficulty of images: mean correlation over labels and seeds."""

from collections.abc import Sequence
from typing import ClassVar

import polars as pl
from pydantic import Field

from vsebench.papers.claim import AtTasks, ClaimCase, in_words
from vsebench.papers.evidence import Evidence, Measurement, UntestableError, Values, interval, of_units

FORMS = {  # words -> form of `evaluation.analyses.thresholds_and_difficulty`
    "correlation of difficulty and threshold minus mean score": "minus_mean",
    "correlation of difficulty and threshold minus log sum of scores": "minus_log_sum",
    "correlation of difficulty and threshold minus largest score": "minus_largest",
}


class ThresholdDifficulty(AtTasks):
    """Among the images with a label, the label's threshold grows with the difficulty of the image.

    The level of an image's scores and thresholds is arbitrary, so the thresholds are measured relative to three levels
    of the scores, and these forms must agree.
    """

    effect: ClassVar[str] = "correlation of thresholds with difficulty (claimed: at least the claim's bound)"
    forms: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("thresholds_and_difficulty",)

    references: list[str] = Field(min_length=1)  # methods whose scores are log odds; the first with results is used
    above: float = Field(ge=0)

    def variants_read(self) -> list[str]:
        return [self.method, *self.references]

    def measured(self) -> list[str]:
        return list(FORMS)

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        correlations = evidence.requested("thresholds_and_difficulty", case.task, self.method)
        references = [variant for variant in self.references if variant in set(correlations["reference"])]
        if not references:
            raise UntestableError(f"The run has no method {in_words(self.references)} to measure the difficulty with.")
        by_seed = (
            correlations.filter(reference=references[0], form=FORMS[case.measured])
            .pivot(on="seed", index="label", values="correlation")
            .drop_nulls()
            .drop("label")
        )
        if by_seed.is_empty():
            raise UntestableError(f"No label of {case.task.dataset} has enough test images.")
        seeds: list[Values] = [by_seed[seed].cast(pl.Float64).to_numpy()[:, None] for seed in by_seed.columns]
        return interval(of_units(seeds, evidence.resamples), lambda values: values[:, 0], self.above)

    def bounds(self) -> Sequence[float]:
        return self.above, float("inf")


TESTS = {"threshold_difficulty": ThresholdDifficulty}
