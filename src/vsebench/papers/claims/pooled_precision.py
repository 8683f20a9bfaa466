"""Difference of two methods' average precision over all pairs of an image and a label (LSEP, figure 3)."""

from typing import ClassVar

import polars as pl

from vsebench.core.tasks import Task
from vsebench.papers.claim import AgainstRivals, ClaimCase
from vsebench.papers.evidence import Evidence, Measurement, UntestableError, Values, difference, of_units

RAW, NORMALISED = "pooled average precision", "pooled average precision of normalised scores"


class PooledPrecision(AgainstRivals):
    """The method has a higher average precision over all pairs than each rival, for raw and for normalised scores.

    A ranking loss does not determine the level of an image's scores, so both forms must agree. The mean of the images'
    values is the average precision; their spread equals that of its linear approximation in the images' weights.
    """

    effect: ClassVar[str] = "difference of a metric over all pairs of an image and a label (claimed: above 0)"
    forms: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("pooled_average_precision",)

    def variants_read(self) -> list[str]:
        return [self.method, *self.rivals]

    def measured(self) -> list[str]:
        return [RAW, NORMALISED]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        normalised = case.measured == NORMALISED
        ours, theirs = (by_seed(evidence, case.task, variant, normalised) for variant in (self.method, case.rival))
        gaps = [a - b for a, b in zip(ours, theirs, strict=True)]
        return difference(of_units(gaps, evidence.resamples), lambda means: means[:, 0])


def by_seed(evidence: Evidence, task: Task, variant: str, normalised: bool) -> list[Values]:
    """Return the images' values, (n_images, 1) for each seed."""
    table = evidence.requested("pooled_average_precision", task, variant).filter(normalised=normalised)
    if table.is_empty():
        raise UntestableError(f"The run has no pooled average precision of {variant}.")
    groups = table.sort("seed", "image").group_by("seed", maintain_order=True)
    return [of_seed.select(pl.col("value").cast(pl.Float64)).to_numpy() for _, of_seed in groups]


TESTS = {"pooled_precision": PooledPrecision}
