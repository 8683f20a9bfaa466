"""What claims are tested on: the results of a run, and the statistics of comparing two rows of them.

This is the only module of the papers that imports metrics and their resampling.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from scipy.special import stdtr, stdtrit  # scipy.stats has the same and takes a second more to import

from vsebench.core.errors import UserError
from vsebench.core.places import Case, Entry, Place
from vsebench.evaluation.estimates import Estimate, Estimates, stack
from vsebench.evaluation.lists import list_values
from vsebench.evaluation.measuring import Measured, Ranked, measure, measure_sets
from vsebench.evaluation.metrics import values
from vsebench.evaluation.metrics.base import ListMetric, Metric, RankMetric, is_of_decision, load_metric
from vsebench.evaluation.sets import LabelSets
from vsebench.evaluation.significance import adjust, bootstrap_all
from vsebench.papers.verdict import Data

__all__ = [
    "AnyMetricName", "Effect", "Estimates", "Evidence", "MetricName", "RunPlace", "UntestableError",
    "adjust", "difference", "differences", "interval", "of_units", "ratio",
]  # fmt: skip

Values = NDArray[np.float64]


def check_metric(name: str) -> str:
    """Return the name of a metric of an image's ranks; raises an error of pydantic's if there is none of this name."""
    if not isinstance(_metric(name), RankMetric):
        raise PydanticCustomError("metric", "{name} is not a metric of an image's ranks", {"name": name})
    return name


def check_any_metric(name: str) -> str:
    """Return the name of a metric that needs no siblings; raises an error of pydantic's if there is none."""
    if isinstance(_metric(name), ListMetric):
        raise PydanticCustomError("metric", "{name} is tested by the test sibling_precision", {"name": name})
    return name


def _metric(name: str) -> Metric:
    try:
        return load_metric(name)
    except UserError as error:
        raise PydanticCustomError("metric", "{message}", {"message": str(error)}) from None


MetricName = Annotated[str, AfterValidator(check_metric)]
AnyMetricName = Annotated[str, AfterValidator(check_any_metric)]


class UntestableError(Exception):
    """A claim cannot be tested; the message is one plain sentence that says what the run lacks."""


@dataclass(frozen=True)
class Effect:
    """What a test measured.

    Attributes
    ----------
    value : the effect
    low, high : its 95 % interval
    p : p-value of no effect; None where the verdict does not rest on it
    neutral : the value of no effect, or the bound of the claim
    """

    value: float
    low: float
    high: float
    p: float | None
    neutral: float


@dataclass(frozen=True)
class RunPlace:
    """A place of the run, with its rows, and as "row/decision" those with decisions; `family` is its data set's.

    `data` is "simulated" or "other" until a paper claims the data set as its own (`Evidence.seen_by`).
    """

    place: Place
    family: str
    data: Data
    rows: list[str]


@dataclass(frozen=True)
class Evidence:
    """The results that claims are tested on.

    Attributes
    ----------
    places : all places of the run, in its order
    seeds : seeds of the run
    resamples : number of bootstrap resamples
    timing, history : the tables TIMING and HISTORY of `core.schemas`
    sweeps, scaling : the tables SWEEPS and SCALING; None where the run has none
    read_ranks : returns the table RANKS of a case
    read_sweep_ranks : returns the table SWEEP_RANKS of a case and a setting
    read_lists : returns the table LISTS of a case; None if the run's lists are not at hand
    read_ranked : returns all that is known of a case's ranking; None if it is not at hand, nor are label sets
    read_sets : returns the label sets that a decision chose for a case
    n_labels : returns the number of candidates of a case
    siblings : data set -> its labels' siblings (columns label and sibling), of those that have some
    on_request : the tables of analyses, by their names
    """

    places: list[RunPlace]
    seeds: list[int]
    resamples: int
    timing: pl.DataFrame
    history: pl.DataFrame
    sweeps: pl.DataFrame | None
    scaling: pl.DataFrame | None
    read_ranks: Callable[[Case], pl.DataFrame]
    read_sweep_ranks: Callable[[Case, str], pl.DataFrame]
    read_lists: Callable[[Case], pl.DataFrame] | None = None
    read_ranked: Callable[[Case], Ranked] | None = None
    read_sets: Callable[[Case, str], LabelSets] | None = None
    n_labels: Callable[[Case], int] | None = None
    siblings: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    on_request: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    _kept: dict[tuple[object, ...], list[Measured]] = field(default_factory=dict, repr=False)

    def seen_by(self, datasets: Collection[str]) -> "Evidence":
        """Return the same results as a paper sees them that used these real data sets of ours."""
        places = [
            replace(place, data="paper") if place.data == "other" and place.place.dataset in datasets else place
            for place in self.places
        ]
        return replace(self, places=places)

    def requested(self, name: str, place: Place, row: str) -> pl.DataFrame:
        """Return what a table that is made on request has of a row, or of a "row/decision", at a place.

        Raises
        ------
        UntestableError
            The run has no such table.
        """
        if name not in self.on_request:
            raise UntestableError(f"The run has no table {name}.")
        entry = Entry.of(row)
        keys = {"dataset": place.dataset, "protocol": place.protocol, "method": entry.row}
        return self.on_request[name].filter(**keys | ({"decision": entry.decision} if entry.decision else {}))

    def cases(self, place: Place, row: str) -> list[Case]:
        """Return the fitted models of a row, one per seed."""
        return [Case(place, row, seed) for seed in self.seeds]

    def both(self, place: Place, ours: str, theirs: str, metric: str) -> Estimates:
        """Return any metric of two entries, each a "row" or a "row/decision", two quantities on the same resamples.

        A metric of label sets is one of the decisions, all others are of the rows' rankings.
        """
        seeds = list(zip(self._measured(place, ours, metric), self._measured(place, theirs, metric), strict=True))
        if any(own.n[0] != other.n[0] for own, other in seeds):
            raise UserError(f"{place}: {ours} and {theirs} have different test images; delete them and run again")
        by_seed = np.array([[model.values[0] for model in models] for models in seeds])
        if np.isnan(by_seed).any():
            raise UntestableError(f"The metric {metric} cannot be computed at {place}.")
        samples = np.stack([np.hstack([model.samples for model in models]) for models in seeds])
        return Estimates(by_seed, samples, min(int(own.n[0]) for own, _ in seeds))

    def _measured(self, place: Place, name: str, metric: str) -> list[Measured]:
        """Return a metric of an entry for each seed; kept, since an entry is compared with many others.

        Resamples depend on the number of images alone, so those of two entries are of the same images.
        """
        key = (place, name, metric)
        if key not in self._kept:
            entry = Entry.of(name)
            self._kept[key] = [self._measure(case, entry.decision, metric) for case in self.cases(place, entry.row)]
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

    def resampled(self, place: Place, rows: Sequence[str], metric: str) -> Estimates:
        """Return one metric of several rows, one quantity per row, on the same resamples."""
        by_row = [[self.read_ranks(case) for case in self.cases(place, row)] for row in rows]
        for tables in by_row[1:]:
            check_same_images(by_row[0], tables)
        seeds = [np.hstack([by_image(own, [metric]) for own in of_seed]) for of_seed in zip(*by_row, strict=True)]
        return of_units(seeds, self.resamples)

    def sibling_precisions(self, place: Place, rows: Sequence[str], cutoff: int) -> Estimates:
        """Return precision and sibling precision of the first `cutoff` labels, two quantities per row.

        Raises
        ------
        UntestableError
            The data set has no siblings, or the run has no lists.
        """
        siblings = self.siblings.get(place.dataset)
        if siblings is None or self.read_lists is None:
            raise UntestableError(f"The data set {place.dataset} does not say which labels are siblings.")
        seeds = []
        for seed in self.seeds:
            cases = [Case(place, row, seed) for row in rows]
            ranks = [self.read_ranks(case) for case in cases]
            for other in ranks[1:]:
                check_same_images(ranks[:1], [other])
            tables: list[Values] = []
            for case, own in zip(cases, ranks, strict=True):
                tables.append(by_image(own, [f"precision@{cutoff}"]))
                tables.append(list_values(self.read_lists(case), own, [f"sibling_precision@{cutoff}"], siblings))
            seeds.append(np.hstack(tables))
        return of_units(seeds, self.resamples)

    def times_of_sizes(self, row: str, variable: str | None = None) -> pl.DataFrame:
        """Return the rows of SCALING of a row, those where `variable` varies or all.

        Raises
        ------
        UntestableError
            The run has none.
        """
        if self.scaling is None:
            raise UntestableError("The run measures no growth; it needs the key scaling.")
        found = self.scaling.filter(method=row, **({"variable": variable} if variable else {}))
        if found.is_empty():
            with_size = f" with the {variable}" if variable else ""
            raise UntestableError(f"The growth of {row}{with_size} was not measured.")
        return found

    def median_by_repeat(self, place: Place, row: str, column: str, phase: str = "epoch") -> Values:
        """Return the median of a column of TIMING over the laps of a phase of each repeat, (n_repeats,).

        Raises
        ------
        UntestableError
            The row was not timed at this place.
        """
        laps = self.timing.filter(phase=phase, dataset=place.dataset, protocol=place.protocol, method=row)
        if laps.is_empty():
            raise UntestableError(f"The run did not time {row} there.")
        medians = laps.group_by("repeat").agg(pl.col(column).median()).sort("repeat")
        return medians[column].cast(pl.Float64).to_numpy()


def differences(
    ours: Sequence[pl.DataFrame], theirs: Sequence[pl.DataFrame], metrics: Sequence[str], resamples: int
) -> dict[str, Effect]:
    """Compare metrics of two rows on the same images, over images and seeds.

    Parameters
    ----------
    ours, theirs : one table RANKS per seed
    metrics : names of metrics
    resamples : number of bootstrap resamples

    Returns
    -------
    dict
        Metric -> effect of `ours` minus `theirs`; above 0 where `ours` is better.

    Raises
    ------
    UserError
        The two rows were not tested on the same images.
    """
    check_same_images(ours, theirs)
    signs = np.array([-1.0 if load_metric(metric).lower_is_better else 1.0 for metric in metrics])
    gaps = [signs * (by_image(a, metrics) - by_image(b, metrics)) for a, b in zip(ours, theirs, strict=True)]
    found = of_units(gaps, resamples)
    each = found.each()
    p_values, (low, high) = each.p_value(), each.interval()
    return {
        metric: Effect(float(each.value[n]), float(low[n]), float(high[n]), float(p_values[n]), 0.0)
        for n, metric in enumerate(metrics)
    }


def difference(found: Estimates, statistic: Callable[[Values], Values], bound: float = 0.0) -> Effect:
    """Return a function of the means over seeds, from (m, n) to (m,), with the p-value of it being `bound`."""
    of_means = found.of(statistic)
    return _effect(of_means, float(of_means.p_value(bound)), bound)


def interval(found: Estimates, statistic: Callable[[Values], Values], bound: float) -> Effect:
    """Return a function of the means with its interval alone; `bound` is what the claim compares it with."""
    return _effect(found.of(statistic), None, bound)


def _effect(found: Estimate, p: float | None, bound: float) -> Effect:
    low, high = found.interval()
    return Effect(float(found.value), float(low), float(high), p, bound)


def of_units(seeds: list[Values], resamples: int) -> Estimates:
    """Return means over units, images or labels, from one table, (n_units, n_quantities), for each seed."""
    return stack(seeds, bootstrap_all(seeds, resamples))


def check_same_images(ours: Sequence[pl.DataFrame], theirs: Sequence[pl.DataFrame]) -> None:
    """Refuse to compare rows that were not tested on the same images; one table RANKS per seed."""
    for a, b in zip(ours, theirs, strict=True):
        if set(a["image"]) != set(b["image"]):
            raise UserError("ranks.parquet: two rows of a place have different test images; delete them and run again")


def by_image(ranks: pl.DataFrame, metrics: Sequence[str]) -> NDArray[np.float64]:
    """Return metrics of every image, (n_images, n_metrics), whatever the order of the file's rows."""
    return values(ranks.sort("image", "label"), metrics)


def ratio(numerator: Values, denominator: Values, pairs: str, bound: float = 1.0) -> Effect:
    """Compare positive numbers pair by pair: geometric mean of the ratios, t-test and interval on their logarithms.

    Parameters
    ----------
    numerator, denominator : (n_pairs,)
    pairs : what the pairs are, for the message: "seeds" or "repeats"
    bound : the ratio that the test is against

    Raises
    ------
    UntestableError
        There are fewer than two pairs.
    """
    if len(numerator) < 2 or len(numerator) != len(denominator):
        raise UntestableError(f"The test needs two {pairs} or more of both.")
    logs = np.log(numerator / denominator)
    freedom = len(logs) - 1
    error = max(float(logs.std(ddof=1)) / math.sqrt(len(logs)), 1e-12)
    half = float(stdtrit(freedom, 0.975)) * error
    mean = float(logs.mean())
    p = float(2 * stdtr(freedom, -abs(mean - math.log(bound)) / error))
    return Effect(math.exp(mean), math.exp(mean - half), math.exp(mean + half), p, bound)
