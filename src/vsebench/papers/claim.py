"""Base classes of the tests of claims: their parameters, the cases that they apply to, and the measured effect."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from pydantic import Field

from vsebench.config.dataset import Family
from vsebench.core.tasks import Task
from vsebench.core.yaml_files import Strict
from vsebench.papers.evidence import Effect, Evidence, RunTask, UntestableError
from vsebench.papers.verdict import FAILS, HOLDS, SIGNIFICANT, UNDECIDED, Data, Verdict

NOWHERE = Task("", "")  # for a case that is not about a single data set
Bounds = Annotated[list[float], Field(min_length=2, max_length=2)]  # lowest and highest, both included


@dataclass(frozen=True)
class ClaimCase:
    """One of the combinations that a claim is tested on, such as a task, a rival and a metric."""

    measured: str  # the measured quantity: the name of a metric, or words
    task: Task = NOWHERE
    data: Data | None = None  # the kind of data; none: the effect is computed without data
    rival: str = ""  # the method that the claim's method is compared with, if any
    metric: str = ""  # the metric, if `measured` is more than its name
    n_labels: int = 0  # the number of labels, if the effect is computed without data

    @classmethod
    def at(cls, candidate: RunTask, measured: str, rival: str = "") -> "ClaimCase":
        """Return the case of a task of the run."""
        return cls(measured, candidate.task, candidate.data, rival)


class ClaimTest(Strict, ABC):
    """A test of claims; its fields are the parameters of a claim in a paper's YAML file."""

    effect: ClassVar[str]  # definition of the effect and of the claimed condition, for the notes of tables
    on_simulated: ClassVar[bool] = False  # whether results on simulated data apply to the paper
    reads: ClassVar[tuple[str, ...]] = ()  # optional inputs: "lists" (with the siblings of labels), names of analyses

    method: str  # our method that the claim is about
    judge_simulated: bool = False  # also judge simulated data of the claim's families; the verdict then states it

    @abstractmethod
    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield the cases that the run can test; if there is none, an `UntestableError` states what it lacks."""

    @abstractmethod
    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Measure the effect in one case; if this is impossible, an `UntestableError` states what the run lacks."""

    def variants_read(self) -> list[str]:
        """Return the methods that the analyses in `reads` must cover."""
        return [self.method]

    def metrics_read(self) -> list[str]:
        """Return the metrics in the fields `metrics` and `metric`; the rule of the claims depends on their modules."""
        fields = self.model_dump()
        return [*fields.get("metrics", []), *([fields["metric"]] if "metric" in fields else [])]

    def bounds(self) -> Sequence[float] | None:
        """Return the claimed bounds of the effect, which its interval is judged by; None: the p-value is judged."""
        return None

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge an effect by its interval if the claim has bounds, else by its corrected p-value and its direction."""
        if (bounds := self.bounds()) is not None:
            return judge_by_interval(effect, *bounds)
        if p is None or p >= SIGNIFICANT:
            return UNDECIDED
        return HOLDS if effect.value > effect.neutral else FAILS


class AtTasks(ClaimTest):
    """A test on every task that has results of the method, on real data and on simulated data of the families."""

    families: list[Family] = Field(min_length=1)  # of the data that the claim is about
    protocols: list[str] | None = Field(default=None, min_length=1)  # none: every protocol of the run
    # our data sets that the claim's sentence names, if it names only some of the paper's; other real data sets count as
    # data that the paper did not use
    named: list[str] | None = Field(default=None, min_length=1)

    def measured(self) -> list[str]:
        """Return the measured quantities: metrics, or quantities in words."""
        return self.metrics_read()

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        for task, measured in itertools.product(self.tasks(evidence), self.measured()):
            yield ClaimCase.at(task, measured)

    def tasks(self, evidence: Evidence, *others: str) -> list[RunTask]:
        """Return the tasks that have results of the method and of the methods `others`.

        If there is none, an `UntestableError` states what the run lacks.
        """
        usable = [
            candidate
            for candidate in evidence.tasks
            if candidate.data != "simulated" or candidate.family in self.families
        ]
        if not usable:
            raise UntestableError(
                f"The run has neither real data nor simulated data of the family {in_words(self.families)}."
            )
        if self.protocols is not None:
            usable = [candidate for candidate in usable if candidate.task.protocol in self.protocols]
        if not usable:
            raise UntestableError(f"The run has no such data set with the protocol {in_words(self.protocols or [])}.")
        methods = dict.fromkeys((self.method, *others))
        with_methods = [candidate for candidate in usable if set(methods) <= set(candidate.variants)]
        if not with_methods:
            raise UntestableError(f"The run has no results of {' and '.join(methods)} on such data.")
        return [
            replace(candidate, data="other")
            if candidate.data == "paper" and self.named is not None and candidate.task.dataset not in self.named
            else candidate
            for candidate in with_methods
        ]


class AgainstRivals(AtTasks):
    """A test of a method against each of its rivals, on each task."""

    rivals: list[str] = Field(min_length=1)

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        pairs = [(task, rival) for task in self.tasks(evidence) for rival in self.rivals if rival in task.variants]
        for (task, rival), measured in itertools.product(pairs, self.measured()):
            yield ClaimCase.at(task, measured, rival)
        if not pairs:
            raise UntestableError(f"The run has no method {in_words(self.rivals)} to compare with.")


def judge_by_interval(effect: Effect, low: float, high: float) -> Verdict:
    """Judge an effect by whether its interval lies within the claimed bounds, outside, or across a bound."""
    if low <= effect.low and effect.high <= high:
        return HOLDS
    return FAILS if effect.high < low or effect.low > high else UNDECIDED


def in_words(names: Sequence[str]) -> str:
    """Return the names as a phrase.

    >>> in_words(["a"]), in_words(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
