"""Tables of metrics: values per model, and means over seeds with tests against the best method."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import polars as pl

from vsebench.core.schemas import METRICS, SUMMARY
from vsebench.core.tasks import Entry, Task
from vsebench.evaluation.estimates import Estimate, Estimates
from vsebench.evaluation.measuring import Measured
from vsebench.evaluation.metrics.base import load_metric
from vsebench.evaluation.significance import INTERVAL, Values, adjust

BySeed = Mapping[int, Measured]


def metrics_table(task: Task, measured: Mapping[Entry, BySeed], metrics: Sequence[str]) -> pl.DataFrame:
    """Return the table `schemas.METRICS`, sorted by entry and seed, without metrics that could not be computed."""
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
    task: Task, measured: Mapping[Entry, BySeed], metrics: Sequence[str], not_compared: Collection[Entry]
) -> pl.DataFrame:
    """Return `schemas.SUMMARY`: means over seeds, intervals over images and seeds, and differences from the best entry.

    `p_adjusted` is the p-value of a two-sided test for a difference from the best entry. It is corrected over all pairs
    of entries, because the best entry is chosen on the same images. It is null for the best entry and the entries
    `not_compared`. In a metric that is not a measure of quality, no entry is the best.
    """
    entries = list(measured)
    contenders = [n for n, entry in enumerate(entries) if entry not in not_compared] or list(range(len(entries)))
    lines: dict[Entry, list[dict[str, object]]] = {entry: [] for entry in entries}
    for column, metric in enumerate(metrics):
        estimates = _of_metric(measured, column)
        if np.isnan(estimates.means[contenders[0]]):
            continue
        best = _best(metric, estimates.means, contenders)
        p_values = {} if best is None else _p_values(estimates, contenders, best)
        low, high = np.clip(estimates.each().interval(), 0, load_metric(metric).largest)
        for n, entry in enumerate(entries):
            line = _keys(task, entry) | {"metric": metric}
            line |= {"value": float(estimates.means[n]), "ci_low": float(low[n]), "ci_high": float(high[n])}
            if best is not None:
                line |= _difference(estimates.minus(best, [n]))
            line |= {"n_seeds": len(estimates.by_seed), "best": n == best, "p_adjusted": p_values.get(n)}
            lines[entry].append(line)
    return pl.DataFrame([line for own_lines in lines.values() for line in own_lines], schema=SUMMARY)


def _keys(task: Task, entry: Entry) -> dict[str, object]:
    return {
        "dataset": task.dataset, "protocol": task.protocol, "method": entry.variant, "decision": entry.decision,
    }  # fmt: skip


def _of_metric(measured: Mapping[Entry, BySeed], column: int) -> Estimates:
    """Return a metric of all entries, one quantity per entry."""
    seeds = list(zip(*(of_entry.values() for of_entry in measured.values()), strict=True))
    by_seed = np.array([[model.values[column] for model in models] for models in seeds])
    samples = np.stack([np.stack([model.samples[:, column] for model in models], axis=1) for models in seeds])
    n_units = min(int(model.n[column]) for models in seeds for model in models)
    return Estimates(by_seed, samples, n_units, dict(enumerate(by_seed[:, ~np.isnan(by_seed).any(axis=0)].T)))


def _best(metric: str, means: Values, contenders: Sequence[int]) -> int | None:
    kind = load_metric(metric)
    if not kind.is_quality:
        return None
    sign = -1 if kind.lower_is_better else 1
    return max(contenders, key=lambda n: sign * means[n])


def _p_values(estimates: Estimates, contenders: Sequence[int], best: int) -> dict[int, float]:
    """Return the p-values of contenders against the best contender, corrected over all pairs of contenders."""
    of_pairs: dict[tuple[int, int], float] = {}
    for index, n in enumerate(contenders[1:], start=1):
        earlier = contenders[:index]
        of_pairs |= {(n, m): float(p) for m, p in zip(earlier, estimates.minus(n, earlier).p_value(), strict=True)}
    adjusted = adjust(of_pairs)
    return {n: adjusted[max(n, best), min(n, best)] for n in contenders if n != best}


def _difference(difference: Estimate) -> dict[str, object]:
    (low,), (high,) = difference.interval()
    return {"difference": float(difference.value[0]), "difference_low": float(low), "difference_high": float(high)}
