"""Ratios of two methods' times, memory, losses or numbers of weights."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.core.tasks import Task
from vsebench.evaluation.convergence import seconds_by_seed, to_best_epoch
from vsebench.papers.claim import AgainstRivals, ClaimCase, ClaimTest
from vsebench.papers.evidence import UNKNOWN, Evidence, Measurement, UntestableError, Values, exact, ratio


class RatioToRival(AgainstRivals):
    """The ratio of each rival's quantity to the method's is above 1."""

    effect: ClassVar[str] = "ratio (claimed: above 1)"
    quantity: ClassVar[str]
    pairs: ClassVar[Literal["seeds", "repeats"]]  # values are paired by seed, or by repeat (methods alternate)

    @abstractmethod
    def values(self, evidence: Evidence, task: Task, variant: str) -> Values:
        """Return the quantity of a method, (n_pairs,)."""

    def compared(self, evidence: Evidence, case: ClaimCase) -> tuple[Values, Values]:
        """Return the numerator and the denominator, (n_pairs,) each."""
        ours, theirs = (self.values(evidence, case.task, variant) for variant in (self.method, case.rival))
        return theirs, ours

    def bound(self) -> float:
        """Return the ratio under the null hypothesis."""
        return 1.0

    def measured(self) -> list[str]:
        return [f"{self.quantity}, ratio"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        return ratio(*self.compared(evidence, case), self.pairs, self.bound())


class MultipleOfRival(RatioToRival):
    """The ratio of each rival's quantity to the method's is above the claim's bound."""

    effect: ClassVar[str] = "ratio (claimed: above 1, or the claim's bound)"

    times: float = Field(default=1.0, gt=0)

    def bound(self) -> float:
        return self.times


class Memory(RatioToRival):
    """Training needs more peak memory with the method than with each rival; the rival's memory is the denominator."""

    quantity: ClassVar[str] = "peak memory"
    pairs: ClassVar[Literal["seeds", "repeats"]] = "repeats"

    def values(self, evidence: Evidence, task: Task, variant: str) -> Values:
        return evidence.median_by_repeat(task, variant, "peak_rss_bytes")

    def is_measured_cost(self) -> bool:
        return True

    def compared(self, evidence: Evidence, case: ClaimCase) -> tuple[Values, Values]:
        theirs, ours = super().compared(evidence, case)
        return ours, theirs


class FullSampleLoss(RatioToRival):
    """The method ends with a smaller full-sample loss (VSE-fs) on the training labels than each rival.

    The scores of each method are scaled to minimise the loss.
    """

    reads: ClassVar[tuple[str, ...]] = ("full_sample_loss",)
    quantity: ClassVar[str] = "full-sample loss"
    pairs: ClassVar[Literal["seeds", "repeats"]] = "seeds"

    beta_0: float = Field(gt=0)  # total weight of the non-positive pairs of an image

    def variants_read(self) -> list[str]:
        return [self.method, *self.rivals]

    def values(self, evidence: Evidence, task: Task, variant: str) -> Values:
        table = evidence.requested("full_sample_loss", task, variant).filter(beta_0=self.beta_0).sort("seed")
        if table.is_empty():
            raise UntestableError(f"The run has no full-sample loss of {variant} with beta_0 = {self.beta_0:g}.")
        return table["loss"].to_numpy().astype(np.float64)


class TimeOfEpoch(MultipleOfRival):
    """An epoch of the method takes less time than an epoch of each rival."""

    quantity: ClassVar[str] = "seconds per epoch"
    pairs: ClassVar[Literal["seeds", "repeats"]] = "repeats"

    def values(self, evidence: Evidence, task: Task, variant: str) -> Values:
        return evidence.median_by_repeat(task, variant, "seconds")

    def is_measured_cost(self) -> bool:
        return True


class ScoringTime(MultipleOfRival):
    """The method scores all labels for new images faster than each rival, by a factor."""

    effect: ClassVar[str] = "ratio (claimed: above the claim's bound)"
    on_simulated: ClassVar[bool] = True  # a claim about cost
    quantity: ClassVar[str] = "seconds per test image"
    pairs: ClassVar[Literal["seeds", "repeats"]] = "repeats"

    times: float = Field(ge=1)

    def values(self, evidence: Evidence, task: Task, variant: str) -> Values:
        return evidence.median_by_repeat(task, variant, "seconds", phase="score")

    def is_measured_cost(self) -> bool:
        return True


class TimeToConverge(MultipleOfRival):
    """The method reaches its best epoch in less training time, or fewer epochs, than each rival."""

    pairs: ClassVar[Literal["seeds", "repeats"]] = "seeds"

    counted_in: Literal["seconds", "epochs"] = "seconds"

    def measured(self) -> list[str]:
        return [f"{self.counted_in} to best epoch, ratio"]

    def is_measured_cost(self) -> bool:
        return self.counted_in == "seconds"

    def values(self, evidence: Evidence, task: Task, variant: str) -> Values:
        if self.counted_in == "epochs":
            return to_best_epoch(at(evidence.history, task, variant))["epoch"].cast(pl.Float64).to_numpy()
        seconds = seconds_by_seed(at(evidence.timing, task, variant))
        if not seconds:
            raise UntestableError("Training up to the best epoch was not timed; set timing.to_best_epoch: true.")
        return np.array(list(seconds.values()))

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        """Return the ratio; it is unknown if the limit on epochs stopped a fit, and `obstacle` then states a bound."""
        measured = super().measure(evidence, case)
        return UNKNOWN if evidence.stopped(case.task, self.method, case.rival) else measured

    def obstacle(self, evidence: Evidence, case: ClaimCase) -> str | None:
        ours, theirs = (evidence.stopped(case.task, variant) for variant in (self.method, case.rival))
        if not (ours or theirs):
            return super().obstacle(evidence, case)
        value = f"at {'most' if ours else 'least'} {super().measure(evidence, case).effect().value:.3g}"
        return " ".join(filter(None, [ours, theirs, f"So the ratio is {'unknown' if ours and theirs else value}."]))


class TimeToShare(AgainstRivals):
    """The method reaches the same quality in less training time than each rival, by a factor.

    For each seed, this quality is a share of the worse method's best validation metric, so both methods reach it.
    """

    effect: ClassVar[str] = "ratio (claimed: above the claim's bound)"
    on_simulated: ClassVar[bool] = True  # a claim about cost

    share: float = Field(gt=0, le=1)
    times: float = Field(ge=1)

    def measured(self) -> list[str]:
        return [f"seconds to {100 * self.share:g} % of the best validation metric, ratio"]

    def is_measured_cost(self) -> bool:
        return True

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        task = case.task
        chosen = evidence.history.filter(phase="selection", dataset=task.dataset, protocol=task.protocol)
        seeds = evidence.common_seeds(task, self.method, case.rival)
        both = [self._seconds(chosen.filter(seed=seed), case.rival) for seed in seeds]
        ours, theirs = np.array(both).T
        measured = ratio(theirs, ours, "seeds", self.times)
        return UNKNOWN if evidence.stopped(task, self.method, case.rival) else measured

    def _seconds(self, history: pl.DataFrame, rival: str) -> tuple[float, float]:
        """Return the seconds of the method and of the rival, given the history of one seed."""
        both = [curve(history.filter(method=variant)) for variant in (self.method, rival)]
        if not all(len(values) for _, values in both):
            raise UntestableError(f"The run did not validate {self.method} and {rival} epoch by epoch.")
        target = self.share * min(values.max() for _, values in both)
        ours, theirs = (float(seconds[np.argmax(values >= target)]) for seconds, values in both)
        return ours, theirs

    def obstacle(self, evidence: Evidence, case: ClaimCase) -> str | None:
        stopped = evidence.stopped(case.task, self.method, case.rival)
        return f"{stopped} So the ratio is unknown." if stopped else super().obstacle(evidence, case)


class ModelBytes(AgainstRivals):
    """The method's saved model is smaller than each rival's model in the same precision, by a factor."""

    effect: ClassVar[str] = "ratio of bytes, which is exact (claimed: at least the claim's bound)"
    on_simulated: ClassVar[bool] = True  # a claim about cost

    times: float = Field(ge=1)

    def measured(self) -> list[str]:
        return ["bytes of the model, ratio"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        ours, theirs = (
            at(evidence.timing, case.task, variant)["model_bytes"].max() for variant in (self.method, case.rival)
        )
        if not isinstance(ours, int) or not isinstance(theirs, int):
            raise UntestableError(f"The run did not time {self.method} and {case.rival}.")
        return exact(theirs / ours, self.times)

    def bounds(self) -> Sequence[float]:
        return self.times, float("inf")


class FullMatrixRatio(ClaimTest):
    """A full weight matrix has more numbers, Y d, than an embedding, (Y + d) D, by a factor, by these formulas."""

    effect: ClassVar[str] = "ratio by the formulas (claimed: at least the claim's bound)"

    labels: int = Field(ge=1)  # Y
    features: int = Field(ge=1)  # d
    factors: int = Field(ge=1)  # D
    times: float = Field(ge=1)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        yield ClaimCase(f"Y d / ((Y + d) D) at Y = {self.labels:,}, d = {self.features:,}, D = {self.factors:,}")

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        return exact(self.labels * self.features / ((self.labels + self.features) * self.factors), self.times)

    def bounds(self) -> Sequence[float]:
        return self.times, float("inf")


def curve(history: pl.DataFrame) -> tuple[Values, Values]:
    """Return the training seconds up to each validated epoch, and its validation metric."""
    epochs = history.sort("epoch").with_columns(elapsed=pl.col("seconds").cum_sum())
    validated = epochs.filter(pl.col("validation").is_not_null())
    return validated["elapsed"].to_numpy(), validated["validation"].to_numpy()


def at(table: pl.DataFrame, task: Task, variant: str) -> pl.DataFrame:
    """Return the rows of a table for one method on a task."""
    return table.filter(dataset=task.dataset, protocol=task.protocol, method=variant)


TESTS = {
    "memory": Memory,
    "full_sample_loss": FullSampleLoss,
    "time_of_epoch": TimeOfEpoch,
    "scoring_time": ScoringTime,
    "time_to_converge": TimeToConverge,
    "time_to_share": TimeToShare,
    "model_bytes": ModelBytes,
    "full_matrix_ratio": FullMatrixRatio,
}
