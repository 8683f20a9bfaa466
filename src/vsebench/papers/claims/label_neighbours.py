"""Share of siblings among the nearest labels in the embedding, relative to chance."""

from collections.abc import Sequence
from typing import ClassVar

import polars as pl
from pydantic import Field

from vsebench.papers.claim import AtTasks, ClaimCase
from vsebench.papers.evidence import Evidence, Measurement, UntestableError, Values, interval, of_units


class LabelNeighbours(AtTasks):
    """The share of siblings among a label's nearest labels exceeds the share expected by chance by a factor.

    The means are over the labels that have siblings; the share expected by chance is siblings / (labels - 1).
    """

    effect: ClassVar[str] = "share of siblings over chance (claimed: at least the claim's bound)"
    reads: ClassVar[tuple[str, ...]] = ("neighbours_of_labels",)

    nearest: int = Field(ge=1, le=9)
    times: float = Field(ge=1)

    def measured(self) -> list[str]:
        return [f"siblings among {self.nearest} nearest labels"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        of_method = evidence.requested("neighbours_of_labels", case.task, self.method)
        neighbours = of_method.filter(pl.col("rank") <= self.nearest, pl.col("siblings") > 0)
        if neighbours.is_empty():
            raise UntestableError(f"The data set {case.task.dataset} does not state which labels are siblings.")
        seeds = [shares(of_seed) for _, of_seed in neighbours.group_by("seed", maintain_order=True)]
        over_chance = of_units(seeds, evidence.resamples)
        return interval(over_chance, lambda values: values[:, 0] / values[:, 1], self.times)

    def bounds(self) -> Sequence[float]:
        return self.times, float("inf")


def shares(neighbours: pl.DataFrame) -> Values:
    """Return the share of siblings among each label's neighbours, and the share expected by chance, (n_labels, 2)."""
    chance = pl.col("siblings").first() / (pl.col("n_labels").first() - 1)
    by_label = neighbours.group_by("label").agg(share=pl.col("sibling").mean(), chance=chance).sort("label")
    return by_label.select("share", "chance").to_numpy()


TESTS = {"label_neighbours": LabelNeighbours}
