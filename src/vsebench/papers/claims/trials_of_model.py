"""Scores that a step of WARP computes on a fitted model, compared with the bound that the paper states."""

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from vsebench.papers.claim import AtTasks, ClaimCase
from vsebench.papers.evidence import Evidence, Measurement, interval, of_units


class TrialsOfModel(AtTasks):
    """On a fitted model, a step computes at most 1 + min((Y - 1) / rank, Y - 1) scores on average."""

    effect: ClassVar[str] = "mean ratio of a step's number of scores to the bound (claimed: at most 1)"
    reads: ClassVar[tuple[str, ...]] = ("trials_by_rank",)

    def measured(self) -> list[str]:
        return ["scores of a step over the bound"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        trials = evidence.requested("trials_by_rank", case.task, self.method)
        ratios = trials.group_by("seed", "image").agg((pl.col("scores") / pl.col("bound")).mean().alias("ratio"))
        by_seed = ratios.sort("seed", "image").partition_by("seed", maintain_order=True)
        seeds = of_units([of_seed.select("ratio").to_numpy() for of_seed in by_seed], evidence.resamples)
        return interval(seeds, lambda means: means[:, 0], 1.0)

    def bounds(self) -> Sequence[float]:
        return 0.0, 1.0


TESTS = {"trials_of_model": TrialsOfModel}
