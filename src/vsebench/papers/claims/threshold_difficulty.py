"""Thresholds grow with an image's difficulty: mean correlation, over labels and seeds."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import polars as pl
from pydantic import Field

from vsebench.papers.claim import AtTasks, ClaimCase, in_words
from vsebench.papers.evidence import Effect, Evidence, UntestableError, Values, interval, of_units


class ThresholdDifficulty(AtTasks):
    """The thresholds of a label rise, over the images that carry it, with how difficult the image is."""

    effect: ClassVar[str] = "correlation of thresholds with difficulty (claimed: at least the claim's bound)"
    reads: ClassVar[tuple[str, ...]] = ("thresholds_and_difficulty",)

    references: list[str] = Field(min_length=1)  # variants whose scores are log odds; the first that a task has counts
    above: float = Field(ge=0)

    def variants_read(self) -> list[str]:
        """Return the method and the references."""
        return [self.method, *self.references]

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per task."""
        for task in self.tasks(evidence):
            yield ClaimCase.at(task, "correlation of threshold and difficulty")

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the mean correlation over labels and seeds."""
        found = evidence.requested("thresholds_and_difficulty", case.task, self.method)
        there = [variant for variant in self.references if variant in set(found["reference"])]
        if not there:
            raise UntestableError(f"The run has no method {in_words(self.references)} to measure the difficulty with.")
        own = found.filter(reference=there[0])
        by_seed = own.pivot(on="seed", index="label", values="correlation").drop_nulls().drop("label")
        if by_seed.is_empty():
            raise UntestableError(f"No label of {case.task.dataset} has enough test images.")
        seeds: list[Values] = [by_seed[seed].cast(pl.Float64).to_numpy()[:, None] for seed in by_seed.columns]
        return interval(of_units(seeds, evidence.resamples), lambda values: values[:, 0], self.above)

    def bounds(self) -> Sequence[float]:
        return self.above, float("inf")


TESTS = {"threshold_difficulty": ThresholdDifficulty}
