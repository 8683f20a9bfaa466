"""Tables of metrics: the values of each model, and the means over seeds with tests against the best method."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.schemas import METRICS, SUMMARY
from vsebench.core.tasks import FROM_PACK, Entry, Task
from vsebench.evaluation.estimates import Estimate, Estimates
from vsebench.evaluation.measuring import Measured
from vsebench.evaluation.metrics.base import load_metric
from vsebench.evaluation.significance import INTERVAL, adjust
from vsebench.evaluation.spread import Spread, Values, deviations

BySeed = Mapping[int, Measured]


def metrics_table(task: Task, measured: Mapping[Entry, BySeed], metrics: Sequence[str]) -> pl.DataFrame:
    """Return the table `schemas.METRICS`, in the order of `measured`, without metrics that could not be computed."""
    lines = []
    for entry, seeds in measured.items():
        for seed, metrics_of_seed in seeds.items():
            low, high = np.percentile(metrics_of_seed.samples, INTERVAL, axis=0)
            for column, metric in enumerate(metrics):
                if not np.isnan(metrics_of_seed.values[column]):
                    numbers = (metrics_of_seed.values[column], low[column], high[column])
                    values = dict(zip(("value", "ci_low", "ci_high"), map(float, numbers), strict=True))
                    keys = _keys(task, entry) | {"seed": seed, "metric": metric}
                    lines.append(keys | values | {"n": int(metrics_of_seed.n[column])})
    return pl.DataFrame(lines, schema=METRICS)


def summarise(
    task: Task,
    measured: Mapping[Entry, BySeed],
    metrics: Sequence[str],
    not_compared: Collection[Entry],
    n_labels: int,
    spreads: Mapping[str, Spread] = MappingProxyType({}),
) -> pl.DataFrame:
    """Return the table `schemas.SUMMARY` of means over seeds, intervals, and differences from the best entry.

    An entry is a method, alone or with a decision. Two entries are compared on the seeds that both have. The best entry
    is at least as good as any other entry in these comparisons. If there is no such entry, because the entries have
    different seeds, the best entry is the one whose largest difference from a better entry is the smallest. Entries in
    `not_compared` take no part in this choice, unless all entries are in it. A metric that does not measure quality has
    no best entry.

    `p_adjusted` is the p-value of a two-sided test for a difference from the best entry. It is corrected for as many
    tests as there are pairs of compared entries, because the best entry is chosen on the same images. It is null for
    the best entry and for entries that are not compared.

    Intervals are clipped to the range of the metric, which can depend on `n_labels`, the number of candidates.
    `spreads` maps methods to the spread due to the choice of their settings. Intervals and tests include this spread.
    """
    entries = list(measured)
    contenders = [n for n, entry in enumerate(entries) if entry not in not_compared] or list(range(len(entries)))
    lines: dict[Entry, list[dict[str, object]]] = {entry: [] for entry in entries}
    variants = [entry.variant for entry in entries]
    for column, metric in enumerate(metrics):
        of_metric = _OfMetric(measured, column, partial(deviations, metric, variants, spreads))
        common = of_metric.on(of_metric.common(*contenders))
        if np.isnan(common.means[contenders[0]]):
            continue
        largest = load_metric(metric).bound(n_labels)
        best = _best(metric, of_metric, contenders)
        p_values = {} if best is None else _p_values(of_metric, contenders, best)
        for n, entry in enumerate(entries):
            estimates = of_metric.on(of_metric.common(n))
            low, high = np.clip(estimates.each().interval(), 0, largest)
            line = _keys(task, entry) | {"metric": metric}
            line |= {"value": float(estimates.means[n]), "ci_low": float(low[n]), "ci_high": float(high[n])}
            if best is not None:
                line |= _difference(of_metric.on(of_metric.common(n, best)).minus(best, [n]), largest)
            line |= {"n_seeds": len(estimates.by_seed), "best": n == best, "p_adjusted": p_values.get(n)}
            lines[entry].append(line)
    return pl.DataFrame([line for own_lines in lines.values() for line in own_lines], schema=SUMMARY)


def _keys(task: Task, entry: Entry) -> dict[str, object]:
    return {
        "dataset": task.dataset, "protocol": task.protocol, "method": entry.variant, "decision": entry.decision,
    }  # fmt: skip


class _OfMetric:
    """The values of one metric for all entries and for the seeds of each entry."""

    def __init__(
        self, measured: Mapping[Entry, BySeed], column: int, deviations_of: Callable[[Values], Values]
    ) -> None:
        self._deviations_of = deviations_of
        self._of_entries = list(measured.values())
        again = repeated(measured)
        self._counted = [n for n, entry in enumerate(measured) if entry not in again]
        self._column = column
        self._kept: dict[tuple[int, ...], Estimates] = {}

    def common(self, *entries: int) -> tuple[int, ...]:
        """Return the seeds that all of the given entries have."""
        own = [self._of_entries[n] for n in entries]
        return tuple(seed for seed in own[0] if all(seed in of_entry for of_entry in own))

    def on(self, seeds: tuple[int, ...]) -> Estimates:
        """Return the metric of each entry on the given seeds, or NaN for an entry that lacks one of these seeds."""
        if seeds not in self._kept:
            self._kept[seeds] = self._on_seeds(seeds)
        return self._kept[seeds]

    def _on_seeds(self, seeds: tuple[int, ...]) -> Estimates:
        present = [n for n, of_entry in enumerate(self._of_entries) if set(seeds) <= of_entry.keys()]
        models = [[self._of_entries[n][seed] for n in present] for seed in seeds]
        by_seed = np.full((len(seeds), len(self._of_entries)), np.nan)
        by_seed[:, present] = [[model.values[self._column] for model in of_seed] for of_seed in models]
        samples = np.full((len(seeds), len(models[0][0].samples), len(self._of_entries)), np.nan)
        for row, of_seed in zip(samples, models, strict=True):
            row[:, present] = np.stack([model.samples[:, self._column] for model in of_seed], axis=1)
        n_units = min(int(model.n[self._column]) for of_seed in models for model in of_seed)
        peers: dict[Hashable, NDArray[np.float64]] = {
            n: by_seed[:, n] for n in self._counted if not np.isnan(by_seed[:, n]).any()
        }
        return Estimates(by_seed, samples, n_units, peers, self._deviations_of(by_seed.mean(axis=0)))


def repeated(entries: Iterable[Entry]) -> set[Entry]:
    """Return the entries with the same method and decision as an earlier entry.

    For example, a pack can repeat a method of the run. Such entries say nothing new about how much methods vary between
    seeds, so the estimate of this variance omits them.
    """
    known: set[tuple[str, str]] = set()
    again: set[Entry] = set()
    for entry in entries:
        method = entry.variant.partition(FROM_PACK)[0], entry.decision
        if method in known:
            again.add(entry)
        known.add(method)
    return again


def _best(metric: str, of_metric: _OfMetric, contenders: Sequence[int]) -> int | None:
    sign = load_metric(metric).sign
    if not sign:
        return None

    def largest_deficit(n: int) -> float:
        """Return the largest amount by which another contender is better than n, on the seeds that both have."""
        means = [of_metric.on(of_metric.common(n, m)).means for m in contenders]
        return max(sign * float(of_both[m] - of_both[n]) for m, of_both in zip(contenders, means, strict=True))

    return min(contenders, key=largest_deficit)


def _p_values(of_metric: _OfMetric, contenders: Sequence[int], best: int) -> dict[int, float]:
    """Return the p-values of differences from the best contender, corrected for tests of all pairs of contenders."""
    of_pairs: dict[tuple[int, int], float] = {}
    for index, n in enumerate(contenders[1:], start=1):
        for seeds, group in groupby(contenders[:index], partial(of_metric.common, n)):
            earlier = list(group)
            p_values = of_metric.on(seeds).minus(n, earlier).p_value()
            of_pairs |= {(n, m): float(p) for m, p in zip(earlier, p_values, strict=True)}
    adjusted = adjust(of_pairs)
    return {n: adjusted[max(n, best), min(n, best)] for n in contenders if n != best}


def _difference(difference: Estimate, largest: float) -> dict[str, object]:
    """Return a difference with its interval; `largest` is the largest possible value of the metric."""
    (low,), (high,) = np.clip(difference.interval(), -largest, largest)
    return {"difference": float(difference.value[0]), "difference_low": float(low), "difference_high": float(high)}
