"""The results of a run on which claims are tested, and the statistics that compare methods.

No other module for claims resamples metrics.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError
from vsebench.core.tasks import Case, Entry, Task, common_seeds
from vsebench.evaluation.estimates import LEVEL, Estimate, Estimates, Interval, mean_of_independent, stack
from vsebench.evaluation.measuring import Measured, Ranked, measure, measure_sets
from vsebench.evaluation.metrics import list_values, values
from vsebench.evaluation.metrics.base import (
    ListMetric,
    Metric,
    RankMetric,
    SeenMetric,
    is_of_decision,
    load_metric,
    needs_frequencies,
)
from vsebench.evaluation.sets import LabelSets
from vsebench.evaluation.significance import bootstrap_all
from vsebench.evaluation.spread import Spread, deviations
from vsebench.papers.verdict import Data
from vsebench.protocols.base import source_of

Values = NDArray[np.float64]


def check_metric(name: str) -> str:
    """Return `name` if it names a rank metric; otherwise raise a pydantic error."""
    if not isinstance(_metric(name), RankMetric):
        raise PydanticCustomError("metric", "{name} is not computed from the ranks of single images", {"name": name})
    return name


def check_image_metric(name: str) -> str:
    """Return `name` if it names a rank metric or a sibling precision; otherwise raise a pydantic error."""
    return name if isinstance(_metric(name), ListMetric) else check_metric(name)


def check_any_metric(name: str) -> str:
    """Return `name` if its metric can test a claim; otherwise raise a pydantic error.

    A metric is excluded if it is computed from siblings of labels, seen and unseen labels, or label frequencies.
    """
    if isinstance(_metric(name), ListMetric):
        raise PydanticCustomError("metric", "use the test sibling_precision for {name}", {"name": name})
    if isinstance(_metric(name), SeenMetric) or needs_frequencies([name]):
        raise PydanticCustomError("metric", "{name} cannot test a claim; use another metric", {"name": name})
    return name


def check_decision_metric(name: str) -> str:
    """Return `name` if its metric measures the quality of label sets; otherwise raise a pydantic error."""
    if not (_metric(name).is_quality and is_of_decision(name)):
        raise PydanticCustomError("metric", "{name} does not measure the quality of label sets", {"name": name})
    return name


def _metric(name: str) -> Metric:
    try:
        return load_metric(name)
    except UserError as error:
        raise PydanticCustomError("metric", "{message}", {"message": str(error)}) from None


MetricName = Annotated[str, AfterValidator(check_metric)]
ImageMetricName = Annotated[str, AfterValidator(check_image_metric)]
DecisionMetricName = Annotated[str, AfterValidator(check_decision_metric)]
AnyMetricName = Annotated[str, AfterValidator(check_any_metric)]


class UntestableError(Exception):
    """Raised if a claim cannot be tested; the message is a sentence that states the reason."""


@dataclass(frozen=True)
class Effect:
    """The effect that a test measured."""

    value: float
    low: float  # the ends of its 95 % interval
    high: float
    p: float | None  # p-value for the hypothesis that the effect is `neutral`; None if the verdict does not use it
    neutral: float  # the value without an effect, or the claim's bound


class Measurement(ABC):
    """The data from which an effect is computed, for one case or for several cases together."""

    @abstractmethod
    def effect(self, level: float = LEVEL) -> Effect:
        """Return the effect; its interval has a coverage of 1 - level."""


Same = TypeVar("Same", bound=Measurement)


class Estimated(Measurement):
    """An effect whose variance is estimated from samples."""

    @abstractmethod
    def estimate(self) -> Estimate:
        """Return the estimate of the effect, or of its logarithm."""

    @abstractmethod
    def effect_of(self, estimate: Interval, level: float = LEVEL) -> Effect:
        """Return the effect, given an estimate of it; the interval has a coverage of 1 - level."""

    def effect(self, level: float = LEVEL) -> Effect:
        return self.effect_of(self.estimate(), level)


@dataclass(frozen=True)
class OfMeans(Estimated):
    """An effect that is a function of means over units (images or labels) and seeds."""

    estimates: Estimates
    statistic: Callable[[Values], Values]  # maps means, (m, n_quantities), to effects, (m,)
    bound: float = 0.0
    tested: bool = True  # whether there is a p-value, for the hypothesis that the effect equals the bound
    logarithm: bool = False  # whether `statistic` and `bound` are logarithms of the effect

    def estimate(self) -> Estimate:
        return self.estimates.of(self.statistic)

    def effect_of(self, estimate: Interval, level: float = LEVEL) -> Effect:
        half = estimate.half_width(level)
        ends = [float(end) for end in (estimate.value, estimate.value - half, estimate.value + half, self.bound)]
        value, low, high, neutral = map(math.exp, ends) if self.logarithm else ends
        return Effect(value, low, high, float(estimate.p_value(self.bound)) if self.tested else None, neutral)

    def by_resample(self) -> Values:
        """Return the effect on each bootstrap resample, as an array of shape (resamples,)."""
        return self.statistic(self.estimates.samples.mean(axis=0))

    def reordered(self, order: NDArray[np.int64]) -> "OfMeans":
        """Return a copy of the measurement with its resamples in the order of the indices `order`."""
        return replace(self, estimates=replace(self.estimates, samples=self.estimates.samples[:, order]))


@dataclass(frozen=True)
class LogRatios(Estimated):
    """An effect that is the geometric mean of the ratios of paired positive numbers.

    The logarithms of the ratios are tested by a t-test.
    """

    logs: Values  # (n_pairs,), at least 2
    bound: float = 1.0  # the ratio under the null hypothesis

    def estimate(self) -> Estimate:
        nothing, freedom = np.array(0.0), len(self.logs) - 1
        variance = np.asarray(max(self.logs.var(ddof=1) / len(self.logs), 1e-24))
        return Estimate(self.logs.mean(), nothing, nothing, variance, nothing, 1, freedom)

    def effect_of(self, estimate: Interval, level: float = LEVEL) -> Effect:
        mean, half = float(estimate.value), float(estimate.half_width(level))
        p = float(estimate.p_value(math.log(self.bound)))
        return Effect(math.exp(mean), math.exp(mean - half), math.exp(mean + half), p, self.bound)


@dataclass(frozen=True)
class OverCorpora(Measurement):
    """The mean of the effects on several corpora, which share neither images nor searches for settings."""

    parts: Sequence[tuple[int, Estimated]]  # for each corpus, the number of its cases and their mean effect

    def effect(self, level: float = LEVEL) -> Effect:
        estimates = [measurement.estimate() for _, measurement in self.parts]
        n_cases = sum(n for n, _ in self.parts)
        together = mean_of_independent(estimates, [n / n_cases for n, _ in self.parts])
        return self.parts[0][1].effect_of(together, level)


@dataclass(frozen=True)
class Fixed(Measurement):
    """An effect that is exact, or whose interval is known."""

    known: Effect

    def effect(self, level: float = LEVEL) -> Effect:
        return self.known


# A verdict on times or memory needs at least this number of repeats; the t quantile is 12.7 for two, and 4.3 for three.
FEWEST_REPEATS = 5
UNKNOWN = Fixed(Effect(math.nan, math.nan, math.nan, None, math.nan))  # for fits that a limit stopped


def pool(parts: Sequence[tuple[str, Measurement]]) -> Measurement:
    """Return a measurement of the mean effect of several cases.

    `parts` contains the corpus (`Evidence.corpora`) and the measurement of each case. Ratios (`LogRatios`) are averaged
    geometrically.

    Images and seeds of different corpora are independent, so the numbers of seeds can differ. In a corpus, seeds are
    paired: for each seed, the effects are averaged over the cases. The variance between seeds is that of these
    averages. Other methods that were run on all tasks of these cases contribute to the estimate of this variance. Cases
    with the same test images have the same resamples.
    """
    corpora: dict[str, list[Measurement]] = {}
    for corpus, measurement in parts:
        corpora.setdefault(corpus, []).append(measurement)
    pooled = [(len(of_corpus), _mean(of_corpus)) for of_corpus in corpora.values()]
    if len(pooled) == 1:
        return pooled[0][1]
    estimated = [(n, each) for n, each in pooled if isinstance(each, Estimated)]
    return OverCorpora(estimated) if estimated else _mean([each for _, each in parts])


def _mean(measurements: Sequence[Measurement]) -> Measurement:
    """Return a measurement of the mean effect of cases of one corpus, or of cases with known effects."""
    if len(measurements) == 1:
        return measurements[0]
    if means := _all_of(OfMeans, measurements):
        return _mean_of_corpus(means)
    if ratios := _all_of(LogRatios, measurements):
        fewest = min(len(each.logs) for each in ratios)
        return LogRatios(np.mean([each.logs[:fewest] for each in ratios], axis=0), ratios[0].bound)
    known = [each.known for each in _all_of(Fixed, measurements)]
    value, low, high = np.mean([[each.value, each.low, each.high] for each in known], axis=0)
    return Fixed(Effect(float(value), float(low), float(high), None, known[0].neutral))


def _all_of(kind: type[Same], measurements: Sequence[Measurement]) -> list[Same]:
    return [each for each in measurements if isinstance(each, kind)]


def _mean_of_corpus(parts: Sequence[OfMeans]) -> OfMeans:
    """Return a measurement of the mean of several effects; each effect is a function of means over images.

    Cases of the same corpus may share images even if their numbers of images differ. Such cases have different
    resamples. Therefore, for each number of images, the resamples are sorted by the effect, as if the effects were
    perfectly correlated. Otherwise, the variance of the mean effect would be understated.
    """
    by_size: dict[int, list[OfMeans]] = {}
    for part in parts:
        by_size.setdefault(part.estimates.n_units, []).append(part)
    pooled: list[OfMeans] = []
    for same_images in by_size.values():
        if len(by_size) > 1:
            order = np.argsort(np.mean([part.by_resample() for part in same_images], axis=0), kind="stable")
            same_images = [part.reordered(order) for part in same_images]
        pooled += same_images
    ends = np.cumsum([part.estimates.by_seed.shape[1] for part in pooled])
    spans = [
        slice(int(end) - part.estimates.by_seed.shape[1], int(end)) for part, end in zip(pooled, ends, strict=True)
    ]

    def mean(values: Values) -> Values:
        effects = [part.statistic(values[:, span]) for part, span in zip(pooled, spans, strict=True)]
        return np.asarray(np.mean(effects, axis=0))

    return replace(pooled[0], estimates=Estimates.side_by_side([part.estimates for part in pooled]), statistic=mean)


@dataclass(frozen=True)
class RunTask:
    """A task of the run."""

    task: Task
    family: str  # the family of its data set
    data: Data  # "simulated" or "other"; `Evidence.seen_by` marks the data sets of a paper
    variants: list[str]  # methods with results, and "method/decision" for their decisions
    labels: int = 0  # number of labels of its data set; 0: unknown

    @property
    def corpus(self) -> str:
        """The name of a group of tasks that may share images."""
        return self.task.dataset if self.family == "other" or self.data == "simulated" else self.family


@dataclass(frozen=True)
class Evidence:
    """The results on which claims are tested, and functions that read them; results that the run lacks are None."""

    tasks: list[RunTask]  # in display order
    seeds: list[int]
    resamples: int  # number of bootstrap resamples
    timing: pl.DataFrame  # the table TIMING of `core.schemas`
    history: pl.DataFrame  # the table HISTORY
    sweeps: pl.DataFrame | None  # the table SWEEPS
    scaling: pl.DataFrame | None  # the table SCALING
    read_ranks: Callable[[Case], pl.DataFrame]  # the table RANKS
    read_sweep_ranks: Callable[[Case, str], pl.DataFrame]  # the table SWEEP_RANKS of a setting
    read_lists: Callable[[Case], pl.DataFrame] | None = None  # the table LISTS
    read_ranked: Callable[[Case], Ranked] | None = None
    read_sets: Callable[[Case, str], LabelSets] | None = None  # the label sets of a decision
    n_labels: Callable[[Case], int] | None = None  # the number of candidates
    siblings: Mapping[str, pl.DataFrame] = field(default_factory=dict)  # data set -> table SIBLINGS
    on_request: Mapping[str, pl.DataFrame] = field(default_factory=dict)  # name of an analysis -> its table
    metrics: pl.DataFrame | None = None  # the table METRICS, for the variance between seeds
    # methods that do not count for this variance: models trained elsewhere, and methods from packs
    outside: Collection[str] = ()
    # stopped fit -> its limit, "epochs" or "iterations"; the variant of a decision is "method/decision"
    at_limit: Mapping[Case, str] = field(default_factory=dict)
    on_edges: Mapping[Case, Sequence[str]] = field(default_factory=dict)  # case -> its settings at the edge of a grid
    untuned: Collection[tuple[Task, str]] = ()  # tasks and methods whose settings were not chosen for the data
    # task and method -> how much metrics vary due to the choice of the method's settings
    spreads: Mapping[tuple[Task, str], Spread] = field(default_factory=dict)
    own_seeds: Mapping[str, Sequence[int]] = field(default_factory=dict)  # "dataset/protocol/method" -> its seeds
    tuned_sweeps: Collection[str] = ()  # methods whose other settings are tuned at each value of a sweep
    selection: Callable[[Case], Mapping[str, Any]] | None = None  # the record of a model's settings in its run.json
    # case -> what the search for its settings tried; other seeds can use these settings, too, and are left out
    tries: Mapping[Case, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    _kept: dict[tuple[object, ...], Measured] = field(default_factory=dict, repr=False)

    def seen_by(self, datasets: Collection[str]) -> "Evidence":
        """Return the same results, with the real data sets in `datasets` marked as the paper's own."""
        tasks = [
            replace(candidate, data="paper")
            if candidate.data == "other" and candidate.task.dataset in datasets
            else candidate
            for candidate in self.tasks
        ]
        return replace(self, tasks=tasks)

    def corpora(self, tasks: Sequence[Task]) -> list[str]:
        """Return the name of each task's corpus, the same for tasks whose images or seeds are not independent.

        Models that were trained on the same data with the same seed can be tested on several corpora (protocol
        `from-<data set>`). Such corpora, and the corpus of the data, count as one.
        """
        of_dataset = {each.task.dataset: each.corpus for each in self.tasks}
        tested = [of_dataset.get(task.dataset, "") for task in tasks]
        sources = [source_of(task.protocol) or task.dataset for task in tasks]
        trained = [of_dataset.get(source, source) for source in sources]
        for n in range(len(tasks)):
            old, new = trained[n], tested[n]
            tested, trained = ([new if name == old else name for name in names] for names in (tested, trained))
        return tested

    def requested(self, name: str, task: Task, variant: str) -> pl.DataFrame:
        """Return the rows of the analysis `name` for a task and a variant.

        The variant is a method or "method/decision". Raise an `UntestableError` if the run lacks this analysis.
        """
        if name not in self.on_request:
            raise UntestableError(f"The run has no analysis {name}.")
        entry = Entry.of(variant)
        keys = {"dataset": task.dataset, "protocol": task.protocol, "method": entry.variant}
        return self.on_request[name].filter(**keys | ({"decision": entry.decision} if entry.decision else {}))

    def stopped(self, task: Task, *names: str) -> str | None:
        """Return one sentence for each method or decision whose training a limit stopped; None if there are none.

        Each of `names` is a method or "method/decision", which stands for both the method and the decision.
        """
        sentences = []
        for variant in dict.fromkeys(each for name in names for each in (Entry.of(name).variant, name)):
            stopped = [case for case in self.cases(task, variant) if case in self.at_limit]
            if stopped:
                sentences.append(stopped_by(variant, self.at_limit[stopped[0]], [case.seed for case in stopped]))
        return " ".join(sentences) or None

    def at_edges(self, task: Task, *names: str) -> str | None:
        """Return a sentence that names the methods' settings at the edge of the range tried; None if there are none."""
        edges = {
            variant: sorted({name for case in self.cases(task, variant) for name in self.on_edges.get(case, ())})
            for variant in dict.fromkeys(Entry.of(name).variant for name in names)
        }
        texts = [f"{', '.join(names)} of {variant}" for variant, names in edges.items() if names]
        return f"At the edge of the range tried: {'; '.join(texts)}." if texts else None

    def untuned_among(self, task: Task, *names: str) -> str | None:
        """Return a sentence that names the methods whose settings no search chose on a task; None if there are none.

        Each of `names` is a method or "method/decision".
        """
        variants = dict.fromkeys(Entry.of(name).variant for name in names)
        untuned = [variant for variant in variants if (task, variant) in self.untuned]
        return f"No search chose the settings of {' and '.join(untuned)} for these data." if untuned else None

    def cases(self, task: Task, variant: str) -> list[Case]:
        """Return the cases of a method on a task: its fitted models, one per seed."""
        return [Case(task, variant, seed) for seed in self.common_seeds(task, variant)]

    def common_seeds(self, task: Task, *names: str) -> list[int]:
        """Return the seeds with which all of `names` ("method" or "method/decision") were fitted on a task."""
        return common_seeds(self.seeds, self.own_seeds, task, [Entry.of(name).variant for name in names])

    def both(self, task: Task, ours: str, rival: str, metric: str) -> Estimates:
        """Return estimates of a metric for `ours` and for `rival`, as two quantities on the same resamples.

        Each of these names is a method or "method/decision". Metrics of label sets are computed from the label sets of
        the decisions, and other metrics from the rankings of the methods. Raise an `UntestableError` if the metric
        cannot be computed on this task, and a `UserError` if the numbers of test images differ.
        """
        common = self.common_seeds(task, ours, rival)
        seeds = [[self._measured(Case(task, name, seed), metric) for name in (ours, rival)] for seed in common]
        if any(first.n[0] != second.n[0] for first, second in seeds):
            raise UserError(
                f"{task}: {ours} and {rival} have different test images; delete the results of both and run again"
            )
        by_seed = np.array([[model.values[0] for model in models] for models in seeds])
        if np.isnan(by_seed).any():
            raise UntestableError(f"The metric {metric} cannot be computed on {task}.")
        samples = np.stack([np.hstack([model.samples for model in models]) for models in seeds])
        n_units = min(int(first.n[0]) for first, _ in seeds)
        choices = self.choices_of(task, metric, [ours, rival], by_seed.mean(axis=0))
        return Estimates(by_seed, samples, n_units, self._of_all(task, metric, "/" in ours, common), choices)

    def choices_of(self, task: Task, metric: str, names: Sequence[str], means: Values) -> Values:
        """Return by how much the choice of the methods' settings changes the means of a metric.

        `means` contains one mean for each entry of `names`, (n_quantities,). The result has shape
        (n_searches, n_quantities).
        """
        variants = [Entry.of(name).variant for name in names]
        spreads = {variant: self.spreads.get((task, variant), {}) for variant in variants}
        return deviations(metric, variants, spreads, means)

    def _of_all(self, task: Task, metric: str, decided: bool, seeds: list[int]) -> dict[Hashable, Values]:
        """Return the values of a metric on a task, (n_seeds,), for each entry of the run.

        An entry is a method or, if `decided` is true, a pair of a method and a decision. Entries that lack one of the
        `seeds` are left out. Methods from outside the run are left out too, because they must not change a verdict.
        """
        if self.metrics is None:
            return {}
        of_task = self.metrics.filter(dataset=task.dataset, protocol=task.protocol, metric=metric)
        of_task = of_task.filter(
            (pl.col("decision") != "") == decided,
            pl.col("seed").is_in(seeds),
            ~pl.col("method").is_in(list(self.outside)),
        ).sort("method", "decision", "seed")
        entries = of_task.partition_by("method", "decision", as_dict=True)
        values = {entry: table["value"].to_numpy() for entry, table in entries.items()}
        return {entry: of_seeds for entry, of_seeds in values.items() if len(of_seeds) == len(seeds)}

    def _measured(self, case: Case, metric: str) -> Measured:
        """Return a metric of a case; results are cached, because many comparisons use them.

        The variant of the case is a method or "method/decision". Resamples depend only on the number of images, so
        cases with the same images have the same resamples.
        """
        key = (case, metric)
        if key not in self._kept:
            entry = Entry.of(case.variant)
            self._kept[key] = self._measure(replace(case, variant=entry.variant), entry.decision, metric)
        return self._kept[key]

    def _measure(self, case: Case, decision: str, metric: str) -> Measured:
        if is_of_decision(metric):
            assert self.read_sets is not None
            return measure_sets([self.read_sets(case, decision)], [metric], self.resamples)[0]
        if isinstance(load_metric(metric), RankMetric):
            table = by_image(self.read_ranks(case), [metric])
            (samples,) = bootstrap_all([table], self.resamples)
            return Measured(table.mean(axis=0), samples, np.array([len(table)]))
        assert self.read_ranked is not None
        assert self.n_labels is not None
        return measure([self.read_ranked(case)], [metric], self.n_labels(case), self.resamples)[0]

    def resampled(self, task: Task, variants: Sequence[str], metric: str) -> Estimates:
        """Return estimates of one metric for several methods, on the same resamples.

        The estimates have one quantity per method. Raise a `UserError` if the methods were tested on different images.
        """
        common = self.common_seeds(task, *variants)
        by_variant = [[self.read_ranks(Case(task, variant, seed)) for seed in common] for variant in variants]
        for tables in by_variant[1:]:
            check_same_images(by_variant[0], tables)
        seeds = [
            np.hstack([by_image(ranks, [metric]) for ranks in of_seed]) for of_seed in zip(*by_variant, strict=True)
        ]
        estimates = of_units(seeds, self.resamples)
        return replace(estimates, choices=self.choices_of(task, metric, variants, estimates.means))

    def sibling_precisions(self, task: Task, variants: Sequence[str], cutoff: int) -> Estimates:
        """Return estimates of the precision and sibling precision of the first `cutoff` labels, on the same resamples.

        The estimates have two quantities per method: first the precision, then the sibling precision. Raise an
        `UntestableError` if the data set has no table of siblings, or if the run did not keep the first labels of each
        image. Raise a `UserError` if the methods were tested on different images.
        """
        siblings = self.siblings.get(task.dataset)
        if siblings is None:
            raise UntestableError(f"The data set {task.dataset} has no table of siblings.")
        if self.read_lists is None:
            raise UntestableError("The run has no lists of the first labels of each image.")
        seeds = []
        for seed in self.common_seeds(task, *variants):
            cases = [Case(task, variant, seed) for variant in variants]
            ranks = [self.read_ranks(case) for case in cases]
            tables: list[Values] = []
            for case, table in zip(cases, ranks, strict=True):
                check_same_images(ranks[:1], [table])
                tables.append(by_image(table, [f"precision@{cutoff}"]))
                tables.append(list_values(self.read_lists(case), table, [f"sibling_precision@{cutoff}"], siblings))
            seeds.append(np.hstack(tables))
        estimates = of_units(seeds, self.resamples)
        methods = [variant for variant in variants for _ in range(2)]
        of_precision = self.choices_of(task, f"precision@{cutoff}", methods, estimates.means)
        of_siblings = self.choices_of(task, f"sibling_precision@{cutoff}", methods, estimates.means)
        of_precision[:, 1::2] = of_siblings[:, ::2] = 0
        return replace(estimates, choices=np.vstack([of_precision, of_siblings]))

    def times_of_sizes(self, variant: str, variable: str | None = None) -> pl.DataFrame:
        """Return the rows of SCALING for a method.

        If `variable` is given, only the rows in which this size varies are returned. Raise an `UntestableError` if the
        run has no such rows, or too few repeats.
        """
        if self.scaling is None:
            raise UntestableError("The run does not measure how times grow; this needs the key `scaling`.")
        rows = self.scaling.filter(method=variant, **({"variable": variable} if variable else {}))
        if rows.is_empty():
            with_size = f" with the number of {variable}" if variable else ""
            raise UntestableError(f"How the time of {variant} grows{with_size} was not measured.")
        check_repeats(rows["repeat"].n_unique(), "scaling.repeats")
        return rows

    def median_by_repeat(self, task: Task, variant: str, column: str, phase: str = "epoch") -> Values:
        """Return the median of a column of TIMING for each repeat, as an array of shape (n_repeats,).

        Only the rows of the given phase are used. Raise an `UntestableError` if the method was not timed on this task,
        or has too few repeats.
        """
        laps = self.timing.filter(phase=phase, dataset=task.dataset, protocol=task.protocol, method=variant)
        if laps.is_empty():
            raise UntestableError(f"The run did not time {variant} on this data.")
        medians = laps.group_by("repeat").agg(pl.col(column).median()).sort("repeat")
        check_repeats(len(medians), "timing.repeats")
        return medians[column].cast(pl.Float64).to_numpy()


def check_repeats(n_repeats: int, key: str) -> None:
    """Raise an `UntestableError` if measured times or memory have too few repeats for a verdict.

    key : the key of the run that sets the number of repeats, such as `timing.repeats`
    """
    if n_repeats < FEWEST_REPEATS:
        raise UntestableError(
            f"A claim on time or memory needs {FEWEST_REPEATS} repeats; the run has {n_repeats} ({key})."
        )


def stopped_by(what: str, limit: str, seeds: Sequence[int]) -> str:
    """Return a sentence that says which fits a limit on epochs or iterations stopped."""
    return f"Training of {what} was stopped by its limit on {limit} (seeds {', '.join(map(str, seeds))})."


def metric_difference(
    ours: Sequence[pl.DataFrame], theirs: Sequence[pl.DataFrame], metric: str, resamples: int
) -> OfMeans:
    """Return the difference between two methods in a metric on the same images.

    The difference is above 0 if `ours` is better. `ours` and `theirs` contain one table RANKS per seed.
    """
    check_same_images(ours, theirs)
    sign = load_metric(metric).sign
    gaps = [sign * (by_image(a, [metric]) - by_image(b, [metric])) for a, b in zip(ours, theirs, strict=True)]
    return difference(of_units(gaps, resamples), lambda means: means[:, 0])


def metric_of_both(
    ours: Sequence[pl.DataFrame], theirs: Sequence[pl.DataFrame], metric: str, resamples: int
) -> Estimates:
    """Return estimates of a metric for two methods on the same images, as two quantities.

    `ours` and `theirs` contain one table RANKS per seed.
    """
    check_same_images(ours, theirs)
    both = [np.hstack([by_image(a, [metric]), by_image(b, [metric])]) for a, b in zip(ours, theirs, strict=True)]
    return of_units(both, resamples)


def difference(estimates: Estimates, statistic: Callable[[Values], Values], bound: float = 0.0) -> OfMeans:
    """Return the effect that `statistic` computes from means, with a p-value.

    `statistic` maps m rows of means, (m, n_quantities), to m effects, (m,). The p-value is for the hypothesis that the
    effect equals `bound`.
    """
    return OfMeans(estimates, statistic, bound)


def interval(estimates: Estimates, statistic: Callable[[Values], Values], bound: float) -> OfMeans:
    """Return the same effect as `difference`, but without a p-value; `bound` is the claim's bound."""
    return OfMeans(estimates, statistic, bound, tested=False)


def exact(value: float, bound: float) -> Fixed:
    """Return an exact effect, whose interval contains only its value."""
    return Fixed(Effect(value, value, value, None, bound))


def of_units(seeds: list[Values], resamples: int) -> Estimates:
    """Return estimates of means over units (images or labels), given a table (n_units, n_quantities) per seed."""
    return stack(seeds, bootstrap_all(seeds, resamples))


def check_same_images(ours: Sequence[pl.DataFrame], theirs: Sequence[pl.DataFrame]) -> None:
    """Raise a `UserError` if two methods, each with one table RANKS per seed, were tested on different images."""
    for a, b in zip(ours, theirs, strict=True):
        if set(a["image"]) != set(b["image"]):
            raise UserError(
                "ranks.parquet: two methods of a task have different test images; delete this file of both methods "
                "and run again"
            )


def by_image(ranks: pl.DataFrame, metrics: Sequence[str]) -> NDArray[np.float64]:
    """Return the metrics of each image, in ascending order of images, as an array of shape (n_images, n_metrics)."""
    return values(ranks.sort("image", "label"), metrics)


def ratio(numerator: Values, denominator: Values, pairs: str, bound: float = 1.0) -> LogRatios:
    """Return the geometric mean of the ratios of paired positive numbers, with a t-test on their logarithms.

    Parameters
    ----------
    numerator, denominator : the paired numbers, each of shape (n_pairs,). If one array has more seeds than the other,
        its last seeds are left out. An `UntestableError` is raised if there are fewer than two pairs, or if the numbers
        of repeats differ
    pairs : what each pair of values belongs to: "repeats", "seeds" or "seeds of the search"
    bound : the ratio under the null hypothesis
    """
    n_pairs = min(len(numerator), len(denominator))
    if n_pairs < 2:
        raise UntestableError(f"The test needs at least two {pairs} of both methods.")
    if pairs == "repeats" and len(numerator) != len(denominator):
        raise UntestableError("The test needs the same number of repeats of both methods.")
    return LogRatios(np.log(numerator[:n_pairs] / denominator[:n_pairs]), bound)
