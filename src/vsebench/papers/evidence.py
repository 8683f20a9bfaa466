"""What claims are tested on: the results of a run, and the statistics of comparing two rows of them.

This is the only module of the papers that imports metrics and their resampling.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from scipy.special import stdtr, stdtrit  # scipy.stats has the same and takes a second more to import

from vsebench.core.errors import UserError
from vsebench.core.places import Case, Place
from vsebench.evaluation.lists import list_values
from vsebench.evaluation.metrics import values
from vsebench.evaluation.metrics.base import RankMetric, load_metric
from vsebench.evaluation.significance import INTERVAL, holm, p_value, resample

__all__ = [
    "Effect", "Evidence", "MetricName", "Resampled", "RunPlace", "UntestableError",
    "differences", "holm", "ratio",
]  # fmt: skip

Values = NDArray[np.float64]


def check_metric(name: str) -> str:
    """Return the name of a metric of images; raises an error of pydantic's if there is none of this name."""
    try:
        metric = load_metric(name)
    except UserError as error:
        raise PydanticCustomError("metric", "{message}", {"message": str(error)}) from None
    if not isinstance(metric, RankMetric):
        raise PydanticCustomError("metric", "{name} is not a metric of an image's ranks", {"name": name})
    return name


MetricName = Annotated[str, AfterValidator(check_metric)]


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
class Resampled:
    """Means over images and seeds of several quantities, and their bootstrap resamples.

    Attributes
    ----------
    means : (n,)
    samples : (resamples, n); every quantity on the same drawn images and seeds
    """

    means: Values
    samples: Values

    def difference(self, statistic: Callable[[Values], Values]) -> Effect:
        """Return a function of the means, from (m, n) to (m,), with its interval and the p-value of it being 0."""
        return replace(self.interval(statistic, 0.0), p=p_value(statistic(self.samples)))

    def interval(self, statistic: Callable[[Values], Values], bound: float) -> Effect:
        """Return a function of the means with its interval alone; `bound` is what the claim compares it with."""
        low, high = np.percentile(statistic(self.samples), INTERVAL)
        value = float(statistic(self.means[np.newaxis])[0])
        return Effect(value, float(low), float(high), None, bound)


@dataclass(frozen=True)
class RunPlace:
    """A place of the run, with its rows; `family` is that of its data set."""

    place: Place
    family: str
    simulated: bool
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
    siblings : data set -> its labels' siblings (columns label and sibling), of those that have some
    neighbours : the table NEIGHBOURS_OF_LABELS; None where the run has none
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
    siblings: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    neighbours: pl.DataFrame | None = None
    _compared: dict[tuple[object, ...], dict[str, Effect]] = field(default_factory=dict, repr=False)

    def cases(self, place: Place, row: str) -> list[Case]:
        """Return the fitted models of a row, one per seed."""
        return [Case(place, row, seed) for seed in self.seeds]

    def difference(self, place: Place, ours: str, theirs: str, metrics: Sequence[str]) -> dict[str, Effect]:
        """Compare two rows in each metric, on the same resamples; results are kept, because resampling is slow."""
        key = (place, ours, theirs, *metrics)
        if key not in self._compared:
            tables = [[self.read_ranks(case) for case in self.cases(place, row)] for row in (ours, theirs)]
            self._compared[key] = differences(tables[0], tables[1], metrics, self.resamples)
        return self._compared[key]

    def resampled(self, place: Place, rows: Sequence[str], metric: str) -> Resampled:
        """Return the means of one metric of several rows, one quantity per row, on the same resamples."""
        by_row = [[self.read_ranks(case) for case in self.cases(place, row)] for row in rows]
        for tables in by_row[1:]:
            check_same_images(by_row[0], tables)
        return self._resample(
            [np.hstack([by_image(own, [metric]) for own in of_seed]) for of_seed in zip(*by_row, strict=True)]
        )

    def sibling_precisions(self, place: Place, rows: Sequence[str], cutoff: int) -> Resampled:
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
        return self._resample(seeds)

    def _resample(self, seeds: list[Values]) -> Resampled:
        means = np.mean([table.mean(axis=0) for table in seeds], axis=0)
        return Resampled(means, resample(seeds, self.resamples))

    def median_by_repeat(self, place: Place, row: str, column: str, phase: str = "epoch") -> Values:
        """Return the median of a column of TIMING over the laps of a phase of each repeat, (n_repeats,)."""
        laps = self.timing.filter(phase=phase, dataset=place.dataset, protocol=place.protocol, method=row)
        medians = laps.group_by("repeat").agg(pl.col(column).median()).sort("repeat")
        return medians[column].cast(pl.Float64).to_numpy()


def differences(
    ours: Sequence[pl.DataFrame], theirs: Sequence[pl.DataFrame], metrics: Sequence[str], resamples: int
) -> dict[str, Effect]:
    """Compare metrics of two rows on the same images: mean difference, and paired bootstrap over images and seeds.

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
    means = np.mean([gap.mean(axis=0) for gap in gaps], axis=0)
    samples = resample(gaps, resamples)
    low, high = np.percentile(samples, INTERVAL, axis=0)
    return {
        metric: Effect(float(means[n]), float(low[n]), float(high[n]), p_value(samples[:, n]), 0.0)
        for n, metric in enumerate(metrics)
    }


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
