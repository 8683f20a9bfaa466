"""Claims that compare scores of different images.

A ranking loss does not determine the level of an image's scores. Therefore each claim is tested in several forms, with
different normalisations of the scores, and these forms must agree.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.core.tasks import Task
from vsebench.papers.claim import AgainstRivals, AtTasks, ClaimCase, in_words
from vsebench.papers.evidence import Evidence, Measurement, UntestableError, Values, difference, interval, of_units

RAW, NORMALISED = "pooled average precision", "pooled average precision of normalised scores"
STAND_IN = "label_map"  # no search measures the spread of the pooled average precision; that of this metric is used
FORMS = {  # words -> form of `evaluation.analyses.thresholds_and_difficulty`
    "correlation of difficulty with (threshold minus mean score)": "minus_mean",
    "correlation of difficulty with (threshold minus log sum of scores)": "minus_log_sum",
    "correlation of difficulty with (threshold minus largest score)": "minus_largest",
}


class PooledPrecision(AgainstRivals):
    """The method's average precision over all pairs of an image and a label is higher than that of each rival.

    The LSEP paper shows this in figure 3. A ranking loss does not determine the level of an image's scores, so the
    claim must hold both for raw and for normalised scores. An analysis gives each image a value, such that the mean of
    the values is the average precision. The mean over a resample of the images approximates the average precision of
    this resample, to first order in the numbers of times that the images are drawn.
    """

    effect = "difference of a metric over all pairs of an image and a label (claimed: above 0)"
    searched = True
    forms = True
    reads = ("pooled_average_precision",)

    def measured(self) -> list[str]:
        return [RAW, NORMALISED]

    def possible(self, measured: str) -> tuple[float, float]:
        return -1.0, 1.0

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        normalised = case.measured == NORMALISED
        seeds = evidence.common_seeds(case.task, self.method, case.rival)
        ours, theirs = (
            by_seed(evidence, case.task, variant, normalised, seeds) for variant in (self.method, case.rival)
        )
        estimates = of_units([np.hstack(pair) for pair in zip(ours, theirs, strict=True)], evidence.resamples)
        choices = evidence.choices_of(case.task, STAND_IN, [self.method, case.rival], estimates.means)
        return difference(replace(estimates, choices=choices), lambda means: means[:, 0] - means[:, 1])


def by_seed(evidence: Evidence, task: Task, variant: str, normalised: bool, seeds: Iterable[int]) -> list[Values]:
    """Return the values of the images (see `PooledPrecision`) for each seed, in ascending order of seeds.

    Each array has shape (n_images, 1), with the images in ascending order.
    """
    table = evidence.requested("pooled_average_precision", task, variant).filter(normalised=normalised)
    table = table.filter(pl.col("seed").is_in(list(seeds)))
    if table.is_empty():
        raise UntestableError(f"The run has no pooled average precision of {variant}.")
    groups = table.sort("seed", "image").group_by("seed", maintain_order=True)
    return [of_seed.select(pl.col("value").cast(pl.Float64)).to_numpy() for _, of_seed in groups]


class ThresholdDifficulty(AtTasks):
    """Among the images that have a label, the label's thresholds are higher for more difficult images.

    The level of an image's scores and thresholds is arbitrary. Therefore the thresholds are measured in three forms:
    relative to the mean, the log sum and the maximum of the image's scores. All forms must agree. The effect is the
    correlation of thresholds with difficulty, averaged over labels and seeds.
    """

    effect = "correlation of thresholds with difficulty (claimed: at least the claim's bound)"
    searched = True
    forms = True
    reads = ("thresholds_and_difficulty",)

    # Methods whose scores are log odds, which measure the difficulty; the first method with results is used.
    references: list[str] = Field(min_length=1)
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
        of_labels = (
            correlations.filter(reference=references[0], form=FORMS[case.measured])
            .pivot(on="seed", index="label", values="correlation")
            .drop_nulls()
            .drop("label")
        )
        if of_labels.is_empty():
            raise UntestableError(f"No label of {case.task.dataset} has enough test images.")
        seeds: list[Values] = [of_labels[seed].cast(pl.Float64).to_numpy()[:, None] for seed in of_labels.columns]
        return interval(of_units(seeds, evidence.resamples), lambda values: values[:, 0], self.above)

    def possible(self, measured: str) -> tuple[float, float]:
        return -1.0, 1.0

    def bounds(self) -> Sequence[float]:
        return self.above, float("inf")
