"""Siblings among the nearest labels in the embedding: their share over chance, over labels and seeds."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import polars as pl
from pydantic import Field

from vsebench.papers.claim import AtTasks, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, UntestableError, Values, interval, of_units


class LabelNeighbours(AtTasks):
    """The labels whose vectors are nearest to a label's are its siblings, a multiple of what chance gives.

    Over the labels that have siblings; chance is the mean of siblings / (labels - 1).
    """

    effect: ClassVar[str] = "share of siblings over chance (claimed: at least the claim's bound)"
    reads: ClassVar[tuple[str, ...]] = ("neighbours_of_labels",)

    nearest: int = Field(ge=1, le=9)
    times: float = Field(ge=1)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per task."""
        for task in self.tasks(evidence):
            yield ClaimCase.at(task, f"siblings among {self.nearest} nearest labels")

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the share of siblings over chance."""
        of_method = evidence.requested("neighbours_of_labels", case.task, self.method)
        found = of_method.filter(pl.col("rank") <= self.nearest, pl.col("siblings") > 0)
        if found.is_empty():
            raise UntestableError(f"The data set {case.task.dataset} does not say which labels are siblings.")
        seeds = [shares(own) for _, own in found.group_by("seed", maintain_order=True)]
        over_chance = of_units(seeds, evidence.resamples)
        return interval(over_chance, lambda values: values[:, 0] / values[:, 1], self.times)

    def bounds(self) -> Sequence[float]:
        return self.times, float("inf")


def shares(found: pl.DataFrame) -> Values:
    """Return of each label the share of siblings among its neighbours, and that of chance, (n_labels, 2)."""
    chance = pl.col("siblings").first() / (pl.col("n_labels").first() - 1)
    by_label = found.group_by("label").agg(share=pl.col("sibling").mean(), chance=chance).sort("label")
    return by_label.select("share", "chance").to_numpy()


TESTS = {"label_neighbours": LabelNeighbours}
