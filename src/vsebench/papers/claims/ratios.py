"""Claims that are tested by the ratio of two methods' times, memory, losses or numbers of weights."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.core.tasks import Task
from vsebench.papers.claim import AgainstRivals, ClaimCase, ClaimTest
from vsebench.papers.evidence import Evidence, Measurement, UntestableError, Values, exact, ratio


class RatioToRival(AgainstRivals):
    """For each rival, the rival's quantity divided by the method's quantity is above 1."""

    effect = "ratio (claimed: above 1)"
    quantity: ClassVar[str]
    # Values are paired by seed, or by repeat; within a repeat, the methods take turns.
    pairs: ClassVar[Literal["seeds", "repeats"]]

    @abstractmethod
    def values(self, evidence: Evidence, task: Task, variant: str) -> Values:
        """Return the compared quantity of one method for each seed or repeat, as an array of shape (n_pairs,)."""

    def compared(self, evidence: Evidence, case: ClaimCase) -> tuple[Values, Values]:
        """Return the numerators and the denominators of the ratios, as two arrays of shape (n_pairs,)."""
        ours, theirs = (self.values(evidence, case.task, variant) for variant in (self.method, case.rival))
        return theirs, ours

    def bound(self) -> float:
        """Return the ratio under the null hypothesis: 1, unless the claim states a bound."""
        return 1.0

    def measured(self) -> list[str]:
        return [f"{self.quantity}, ratio"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        return ratio(*self.compared(evidence, case), self.pairs, self.bound())


class MultipleOfRival(RatioToRival):
    """For each rival, the rival's quantity divided by the method's quantity is above the bound `times`."""

    effect = "ratio (claimed: above 1, or the claim's bound)"

    times: float = Field(default=1.0, gt=0)

    def bound(self) -> float:
        return self.times


class CostOfRepeats:
    """A measured cost, with one value per repeat.

    The value is the median of a column of the table TIMING over the rows of a phase, such as the epochs.
    """

    pairs: ClassVar[Literal["seeds", "repeats"]] = "repeats"
    column: ClassVar[str] = "seconds"
    phase: ClassVar[str] = "epoch"

    def values(self, evidence: Evidence, task: Task, variant: str) -> Values:
        return evidence.median_by_repeat(task, variant, self.column, self.phase)

    def is_measured_cost(self) -> bool:
        return True


class Memory(CostOfRepeats, RatioToRival):
    """Training needs more peak memory with the method than with each rival.

    The effect is the memory of the method divided by that of the rival.
    """

    quantity = "peak memory"
    column: ClassVar[str] = "peak_rss_bytes"

    def compared(self, evidence: Evidence, case: ClaimCase) -> tuple[Values, Values]:
        theirs, ours = super().compared(evidence, case)
        return ours, theirs


class FullSampleLoss(RatioToRival):
    """The fitted method has a smaller full-sample loss (VSE-fs) on the training labels than each rival.

    The scores of each method are shifted and scaled beforehand, so that this loss is as small as possible.
    """

    reads = ("full_sample_loss",)
    quantity = "full-sample loss"
    pairs = "seeds"

    beta_0: float = Field(gt=0)  # total weight of the non-positive pairs of an image

    def values(self, evidence: Evidence, task: Task, variant: str) -> Values:
        table = evidence.requested("full_sample_loss", task, variant).filter(beta_0=self.beta_0).sort("seed")
        if table.is_empty():
            raise UntestableError(f"The run has no full-sample loss of {variant} with beta_0 = {self.beta_0:g}.")
        return table["loss"].to_numpy().astype(np.float64)


class TimeOfEpoch(CostOfRepeats, MultipleOfRival):
    """An epoch of the method takes less time than an epoch of each rival.

    The rival's time divided by the method's must be above `times`, which is 1 by default.
    """

    quantity = "seconds per epoch"


class ScoringTime(CostOfRepeats, MultipleOfRival):
    """The method scores all labels for new images faster than each rival, by more than a given factor."""

    effect = "ratio (claimed: above the claim's bound)"
    on_simulated = True  # a claim on cost
    quantity = "seconds per test image"
    phase: ClassVar[str] = "score"

    times: float = Field(ge=1)


class ModelBytes(AgainstRivals):
    """The method's saved model takes fewer bytes than each rival's, by at least a given factor."""

    effect = "ratio of bytes, an exact number (claimed: at least the claim's bound)"
    on_simulated = True  # a claim on cost

    times: float = Field(ge=1)

    def measured(self) -> list[str]:
        return ["bytes of the model, ratio"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        ours, theirs = (
            at(evidence.timing, case.task, variant)["model_bytes"].max() for variant in (self.method, case.rival)
        )
        if not isinstance(ours, int) or not isinstance(theirs, int):
            raise UntestableError(f"The run did not time both {self.method} and {case.rival}.")
        return exact(theirs / ours, self.times)

    def bounds(self) -> Sequence[float]:
        return self.times, float("inf")


class FullMatrixRatio(ClaimTest):
    """A full weight matrix is larger than an embedding, by at least a given factor.

    For Y labels, d features and D factors, the matrix contains Y d numbers, and the embedding contains (Y + d) D.
    """

    effect = "ratio by the formulas (claimed: at least the claim's bound)"

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


def at(table: pl.DataFrame, task: Task, variant: str) -> pl.DataFrame:
    """Return the rows of a table for one method on a task."""
    return table.filter(dataset=task.dataset, protocol=task.protocol, method=variant)
