"""How far the draws of VSE-ens are from the draws by rank that they approximate, over images and seeds."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import Field

from vsebench.papers.claim import AtTasks, ClaimCase
from vsebench.papers.evidence import Effect, Evidence, interval, of_units


class SamplerDistance(AtTasks):
    """The negatives drawn from sorted lists have nearly the distribution of negatives drawn by rank (Eq. 5)."""

    effect: ClassVar[str] = (
        "total variation distance from the rank sampler over that of uniform draws: 0 if the draws are the same, 1 if "
        "they are no nearer than uniform ones (claimed: at most the claim's bound)"
    )
    reads: ClassVar[tuple[str, ...]] = ("sampler_distance",)

    at_most: float = Field(gt=0, lt=1)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per task."""
        for task in self.tasks(evidence):
            yield ClaimCase.at(task, "distance from the rank sampler, ratio")

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the mean distance over that of uniform draws."""
        found = evidence.requested("sampler_distance", case.task, self.method)
        by_seed = (own.sort("image") for _, own in found.group_by("seed", maintain_order=True))
        both = of_units([own.select("lists", "uniform").to_numpy() for own in by_seed], evidence.resamples)
        return interval(both, lambda means: means[:, 0] / means[:, 1], self.at_most)

    def bounds(self) -> Sequence[float]:
        return 0.0, self.at_most


TESTS = {"sampler_distance": SamplerDistance}
