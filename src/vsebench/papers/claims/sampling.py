"""Claims about how methods sample negatives: which distribution they draw from, and how many scores a step needs."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.papers.claim import AtTasks, ClaimCase, ClaimTest
from vsebench.papers.evidence import Evidence, Measurement, UntestableError, Values, exact, interval, of_units, ratio

ROUNDING = 1e-12  # largest rounding error of sums of thousands of terms


class SamplerDistance(AtTasks):
    """Negatives that VSE-ens draws from sorted lists are distributed almost like negatives drawn by rank.

    Eq. 5 of the VSE-ens paper defines the distribution by rank.
    """

    effect = (
        "total variation distance of the sampler from the rank sampler, divided by that of the uniform sampler: 0 for "
        "equal distributions, 1 if the sampler is no closer than the uniform one (claimed: at most the claim's bound)"
    )
    reads = ("sampler_distance",)

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


class TrialsOfModel(AtTasks):
    """With a fitted model, a step of WARP computes on average at most as many scores as the paper's bound allows.

    For Y labels, the bound of the WSABIE paper is 1 + min((Y - 1) / rank, Y - 1), where the rank is the number of
    negatives that violate the margin. Here, Y - 1 is replaced by the number of negatives of the image.
    """

    effect = "mean ratio of the number of computed scores per step to the bound (claimed: at most 1)"
    reads = ("trials_by_rank",)

    def measured(self) -> list[str]:
        return ["scores per step relative to the bound"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        trials = evidence.requested("trials_by_rank", case.task, self.method)
        ratios = trials.group_by("seed", "image").agg((pl.col("scores") / pl.col("bound")).mean().alias("ratio"))
        by_seed = ratios.sort("seed", "image").partition_by("seed", maintain_order=True)
        seeds = of_units([of_seed.select("ratio").to_numpy() for of_seed in by_seed], evidence.resamples)
        return interval(seeds, lambda means: means[:, 0], 1.0)

    def bounds(self) -> Sequence[float]:
        return 0.0, 1.0


class TrialsGrow(AtTasks):
    """The method examines more negatives per training step in the last tenth of the epochs than in the first tenth.

    The effect is the ratio of the number in the last tenth to the number in the first tenth.
    """

    effect = "ratio (claimed: above 1)"

    def measured(self) -> list[str]:
        return ["trials per step, last tenth over first"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        refit = evidence.history.filter(
            phase="refit", dataset=case.task.dataset, protocol=case.task.protocol, method=self.method
        ).sort("seed", "epoch")
        if refit["trials_per_step"].null_count():
            raise UntestableError(f"The method {self.method} does not count trials.")
        late, early = [], []
        for _, epochs in refit.group_by("seed", maintain_order=True):
            trials = epochs["trials_per_step"].to_numpy()
            tenth = max(1, len(trials) // 10)
            late.append(trials[-tenth:].mean())
            early.append(trials[:tenth].mean())
        return ratio(np.array(late), np.array(early), "seeds")


class SampledRank(ClaimTest):
    """The expected loss of a step of WARP with k violators is a_1 + .. + a_k, where a_1 >= a_2 >= .. >= 0.

    A loss of this form is a ranking loss. Violators are negatives that violate the margin. With Y labels, the step
    draws from Y - 1 negatives, with replacement. The probability that draw N finds the first violator is
    (1 - p)^(N - 1) p, where p = k / (Y - 1). The loss of the step is then L(floor((Y - 1) / N)), where L(r) = 1 + 1/2 +
    .. + 1/r and L(0) = 0. If none of Y - 1 draws finds a violator, the loss is 0. The expected loss, L~(k), is computed
    exactly, without results of a run.
    """

    effect = "smallest of all increments a_k and all differences a_k - a_(k + 1) (claimed: at least 0)"

    labels: list[int] = Field(min_length=1)  # numbers of labels Y

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        for labels in self.labels:
            yield ClaimCase(f"increments of the loss, {labels} labels", n_labels=labels)

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        increments = np.diff(sampled_loss(case.n_labels), prepend=0.0)
        return exact(float(min(increments.min(), -np.diff(increments).max())), 0.0)

    def bounds(self) -> Sequence[float]:
        return -ROUNDING, float("inf")


def sampled_loss(labels: int) -> Values:
    """Return the expected loss L~(k) of `SampledRank` for k = 1 .. Y - 1, as an array of shape (Y - 1,).

    Y is the number of labels, `labels`.
    """
    negatives = labels - 1
    draws = np.arange(1, negatives + 1)
    weights = np.cumsum(1.0 / draws)[negatives // draws - 1]  # L(floor((Y - 1) / N)) for N = 1 .. Y - 1
    p = draws / negatives  # for k = 1 .. Y - 1
    return np.array([share * ((1 - share) ** (draws - 1) @ weights) for share in p])
