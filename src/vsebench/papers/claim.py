"""Base classes of the tests of claims; a test has parameters, lists its cases, and measures an effect in each case."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from vsebench.config.dataset import Family
from vsebench.core.tasks import Entry, Task
from vsebench.core.yaml_files import Strict
from vsebench.evaluation.metrics.base import load_metric
from vsebench.papers.evidence import Effect, Evidence, Measurement, RunTask, UntestableError
from vsebench.papers.verdict import FAILS, HOLDS, SIGNIFICANT, UNDECIDED, Data, Verdict

ON_SIMULATED = "Results on simulated data are no evidence on the paper's data."
NOWHERE = Task("", "")  # the task of a case that is not about a single data set
Bounds = Annotated[list[float], Field(min_length=2, max_length=2)]  # the lowest and the highest value, both included


@dataclass(frozen=True)
class ClaimCase:
    """One case in which a claim is tested, for example a combination of a task, a rival and a metric."""

    measured: str  # the measured quantity: the name of a metric, or a description in words
    task: Task = NOWHERE
    data: Data | None = None  # the kind of data; none: the effect is computed without data
    rival: str = ""  # the method that the claim's method is compared with, if any
    metric: str = ""  # the metric, if `measured` is not just its name
    n_labels: int = 0  # the number of labels, if the effect is computed without data

    @classmethod
    def at(cls, candidate: RunTask, measured: str, rival: str = "") -> "ClaimCase":
        """Return a case on one task of the run."""
        return cls(measured, candidate.task, candidate.data, rival)


class ClaimTest(Strict, ABC):
    """A test of claims; its fields are the parameters of a claim in a paper's YAML file."""

    effect: ClassVar[str]  # definition of the effect and of the claimed condition, for the notes of tables
    on_simulated: ClassVar[bool] = False  # whether results on simulated data always count for the verdict
    # Whether a case counts only if a search chose the settings of its methods, or they are those of the paper.
    searched: ClassVar[bool] = False
    # Whether the measured quantities are forms of one quantity; then a claim is decided only if all forms agree.
    forms: ClassVar[bool] = False
    # Inputs that only some tests need: names of analyses, or "lists" (each image's first labels, and labels' siblings).
    reads: ClassVar[tuple[str, ...]] = ()

    method: str  # our method that the claim is about
    judge_simulated: bool = False  # whether to judge the claim on simulated data, too; the verdict's row then says so

    @abstractmethod
    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield the cases that can be tested; if there are none, raise an `UntestableError` with the reason."""

    @abstractmethod
    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        """Measure the effect in one case; if this is impossible, raise an `UntestableError` with the reason."""

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the effect in one case, with its 95 % interval."""
        return self.measure(evidence, case).effect()

    def obstacle(self, evidence: Evidence, case: ClaimCase) -> str | None:
        """Return the reason why a case does not count for the verdict; None if it counts."""
        if case.data == "simulated" and not self.judges_simulated():
            return ON_SIMULATED
        return evidence.untuned_among(case.task, *self.fits(case)) if self.searched else None

    def judges_simulated(self) -> bool:
        """Return whether results on simulated data count for the verdict."""
        return self.on_simulated or self.judge_simulated

    def remark(self, evidence: Evidence, case: ClaimCase) -> str | None:
        """Return a remark on the fits that are compared in a case; None if there is nothing to remark.

        The remark states which fits a limit stopped, and which settings are at the edge of the range that was tried.
        """
        names = self.fits(case)
        sentences = (evidence.stopped(case.task, *names), evidence.at_edges(case.task, *names))
        return " ".join(filter(None, sentences)) or None

    def fits(self, case: ClaimCase) -> list[str]:
        """Return the names of the methods that are compared in a case, as "method" or "method/decision"."""
        return list(filter(None, dict.fromkeys((self.method, case.rival))))

    def domain(self) -> dict[str, Any]:
        """Return the parameters by which `repeats` compares two claims.

        If a claim is tested with each of several values of a parameter, these values form a set. An empty set stands
        for all possible values.
        """
        fields = self.model_dump(exclude={"judge_simulated"})
        return fields | {name: set(fields[name]) for name in ("rivals", "metrics") if name in fields}

    def repeats(self, other: "ClaimTest") -> bool:
        """Return whether this claim and the other claim test at least one case in the same way."""
        ours, theirs = self.domain(), other.domain()
        return type(self) is type(other) and all(_overlap(ours[name], theirs[name]) for name in ours)

    def is_measured_cost(self) -> bool:
        """Return whether the effect is a measured time or amount of memory, which differs from run to run."""
        return False

    def variants_read(self) -> list[str]:
        """Return the methods that the analyses in `reads` must cover."""
        return [self.method]

    def metrics_read(self) -> list[str]:
        """Return the metrics in the claim's fields `metrics` and `metric`."""
        fields = self.model_dump()
        return [*fields.get("metrics", []), *([fields["metric"]] if "metric" in fields else [])]

    def possible(self, measured: str) -> tuple[float, float]:
        """Return the smallest and the largest possible effect; no interval extends beyond them."""
        return float("-inf"), float("inf")

    def effect_in_words(self) -> str:
        """Return the definition of the effect: by default `effect`, in some tests a text that depends on parameters."""
        return self.effect

    def bounds(self) -> Sequence[float] | None:
        """Return the claimed bounds of the effect; None if the claim has no bounds, so that its p-value is judged."""
        return None

    def verdict(self, effect: Effect, p: float | None) -> Verdict:
        """Judge an effect by its interval if the claim has bounds; if not, by its direction and corrected p-value."""
        if (bounds := self.bounds()) is not None:
            return judge_by_interval(effect, *bounds)
        if p is None or p >= SIGNIFICANT:
            return UNDECIDED
        return HOLDS if effect.value > effect.neutral else FAILS


class AtTasks(ClaimTest):
    """A test on each task that has results for the method, if its data set belongs to one of the claim's families."""

    families: list[Family] = Field(min_length=1)  # families of the data that the claim is about
    only_simulated: bool = False  # whether to test only on simulated data, which then get a verdict
    protocols: list[str] | None = Field(default=None, min_length=1)  # none: every protocol of the run
    named: list[str] | None = Field(default=None, min_length=1)  # the data sets that the paper's sentence names, if any
    # The claim is judged only on data sets with at least this number of labels per factor (of the methods in `sized`).
    labels_per_factor: float | None = Field(default=None, gt=0)

    def measured(self) -> list[str]:
        """Return the measured quantities: names of metrics, or descriptions in words."""
        return self.metrics_read()

    def others(self) -> list[str]:
        """Return the other methods that must have results on a task if the claim is to be tested on this task."""
        return []

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        for task, measured in itertools.product(self.tasks(evidence, *self.others()), self.measured()):
            yield ClaimCase.at(task, measured)

    def tasks(self, evidence: Evidence, *others: str) -> list[RunTask]:
        """Return the tasks of the claim's families and protocols that have results for the method and for `others`.

        If there are none, raise an `UntestableError` that states what the run lacks.
        """
        kind = "simulated data" if self.only_simulated else "data"
        usable = [
            candidate
            for candidate in evidence.tasks
            if candidate.family in self.families and (candidate.data == "simulated" or not self.only_simulated)
        ]
        if not usable:
            raise UntestableError(f"The run has no {kind} of the family {in_words(self.families)}.")
        if self.protocols is not None:
            usable = [candidate for candidate in usable if candidate.task.protocol in self.protocols]
        if not usable:
            raise UntestableError(
                f"No data set of the claim's families has the protocol {in_words(self.protocols or [])}."
            )
        methods = dict.fromkeys((self.method, *others))
        with_methods = [candidate for candidate in usable if set(methods) <= set(candidate.variants)]
        if not with_methods:
            raise UntestableError(
                f"No task of the claim's families and protocols has results for {' and '.join(methods)}."
            )
        return with_methods

    def obstacle(self, evidence: Evidence, case: ClaimCase) -> str | None:
        if self.named is not None and case.task.dataset not in self.named:
            return f"The paper states this only for {in_words(self.named)}."
        needed = self._labels_needed(evidence, case)
        labels = next(each.labels for each in evidence.tasks if each.task == case.task)
        if 0 < labels < needed:
            return f"The claim needs {needed} labels or more; the data have {labels}."
        return super().obstacle(evidence, case)

    def judges_simulated(self) -> bool:
        return self.only_simulated or super().judges_simulated()

    def _labels_needed(self, evidence: Evidence, case: ClaimCase) -> int:
        """Return how many labels a data set must have for the claim to be judged on it; 0 if there is no minimum.

        The number is `labels_per_factor` times the largest number of factors of the methods in `sized`.
        """
        if self.labels_per_factor is None or evidence.selection is None:
            return 0
        names = [name for name in self.sized() if name]
        models = [evidence.cases(case.task, Entry.of(name).variant)[0] for name in names]
        factors = [evidence.selection(model)["settings"].get("factors") or 0 for model in models]
        return round(self.labels_per_factor * max(factors))

    def sized(self) -> list[str]:
        """Return the methods whose numbers of factors determine how many labels the claim needs."""
        return [self.method]

    def domain(self) -> dict[str, Any]:
        fields = super().domain()
        for name in ("only_simulated", "labels_per_factor"):
            del fields[name]
        fields["data"] = {"simulated"} if self.only_simulated else {"real"}
        if self.judge_simulated or self.on_simulated:
            fields["data"] |= {"simulated"}
        return fields | {name: set(fields[name] or ()) for name in ("families", "protocols", "named")}


class AgainstRivals(AtTasks):
    """A test of a method against each of its rivals, on each task."""

    rivals: list[str] = Field(min_length=1)

    def variants_read(self) -> list[str]:
        return [self.method, *self.rivals]

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        pairs = [(task, rival) for task in self.tasks(evidence) for rival in self.rivals if rival in task.variants]
        for (task, rival), measured in itertools.product(pairs, self.measured()):
            yield ClaimCase.at(task, measured, rival)
        if not pairs:
            raise UntestableError(f"The run has no method {in_words(self.rivals)} to compare with.")


def differences_of(metric: str) -> tuple[float, float]:
    """Return the smallest and the largest possible difference of a metric between two methods."""
    kind = load_metric(metric)
    largest = float("inf") if kind.counts_labels else kind.largest
    return -largest, largest


def _overlap(ours: object, theirs: object) -> bool:
    """Return whether two values of a parameter are equal, or two sets overlap; an empty set stands for all values."""
    if isinstance(ours, set) and isinstance(theirs, set):
        return not ours or not theirs or bool(ours & theirs)
    return ours == theirs


def judge_by_interval(effect: Effect, low: float, high: float) -> Verdict:
    """Judge an effect by whether its interval lies inside the claimed bounds, outside them, or across a bound."""
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
