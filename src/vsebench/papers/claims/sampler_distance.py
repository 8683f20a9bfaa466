"""Distance between the negative sampling of VSE-ens and the sampling by rank that it approximates."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from vsebench.papers.claim import AtTasks, ClaimCase
from vsebench.papers.evidence import Evidence, Measurement, interval, of_units


class SamplerDistance(AtTasks):
    """Negatives drawn from sorted lists have almost the same distribution as negatives drawn by rank (Eq. 5)."""

    effect: ClassVar[str] = (
        "total variation distance from the rank sampler over that of uniform draws: 0 for equal distributions, "
        "1 if it is no closer than the uniform one (claimed: at most the claim's bound)"
    )
    reads: ClassVar[tuple[str, ...]] = ("sampler_distance",)

    at_most: float = Field(gt=0, lt=1)

    def measured(self) -> list[str]:
        return ["distance from the rank sampler, ratio"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        distances = evidence.requested("sampler_distance", case.task, self.method).sort("seed", "image")
        by_seed = distances.group_by("seed", maintain_order=True)
        both = of_units([of_seed.select("lists", "uniform").to_numpy() for _, of_seed in by_seed], evidence.resamples)
        return interval(both, lambda means: means[:, 0] / means[:, 1], self.at_most)

    def bounds(self) -> Sequence[float]:
        return 0.0, self.at_most


TESTS = {"sampler_distance": SamplerDistance}
