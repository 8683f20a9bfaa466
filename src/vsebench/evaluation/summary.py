"""Tables of metrics: one row per model and metric, and means over seeds with a paired test against the best method."""

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from vsebench.core.places import Case
from vsebench.core.schemas import METRICS, SUMMARY
from vsebench.evaluation.measuring import Measured
from vsebench.evaluation.metrics.base import load_metric
from vsebench.evaluation.significance import INTERVAL, Values, holm, over_seeds, p_value


def metrics_table(measured: dict[Case, Measured], metrics: Sequence[str]) -> pl.DataFrame:
    """Return `schemas.METRICS`, by row and then by seed, without metrics that could not be computed."""
    lines = []
    for case, found in sorted(measured.items(), key=lambda item: rows_of(measured).index(item[0].row)):
        low, high = np.percentile(found.samples, INTERVAL, axis=0)
        for place, metric in enumerate(metrics):
            if not np.isnan(found.values[place]):
                numbers = (found.values[place], low[place], high[place])
                values = dict(zip(("value", "ci_low", "ci_high"), map(float, numbers), strict=True))
                lines.append(case.keys | {"metric": metric} | values | {"n": int(found.n[place])})
    return pl.DataFrame(lines, schema=METRICS)


def summarise(measured: dict[Case, Measured], metrics: Sequence[str], not_compared: Collection[str]) -> pl.DataFrame:
    """Return `schemas.SUMMARY`: means over seeds, intervals over images and seeds, and the difference to the best row.

    `p_adjusted` is that of a two-sided paired bootstrap test of no difference, Holm-corrected over the rows; null for
    the best row itself and for those of `not_compared`.
    """
    rows = rows_of(measured)
    own = {row: [found for case, found in measured.items() if case.row == row] for row in rows}
    means = {row: np.mean([found.values for found in seeds], axis=0) for row, seeds in own.items()}
    samples = {row: over_seeds(np.stack([found.samples for found in seeds])) for row, seeds in own.items()}
    contenders = [row for row in rows if row not in not_compared] or rows
    place = next(iter(measured)).place
    lines = []
    for column, metric in enumerate(metrics):
        if np.isnan(means[rows[0]][column]):
            continue
        sign = -1 if load_metric(metric).lower_is_better else 1
        best = max(contenders, key=lambda row: sign * means[row][column])
        gaps = {row: samples[row][:, column] - samples[best][:, column] for row in rows}
        p_values = holm({row: p_value(gaps[row]) for row in contenders if row != best})
        for row in rows:
            line = _line(means[row][column], samples[row][:, column], means[best][column], gaps[row])
            keys: dict[str, object] = {
                "dataset": place.dataset,
                "protocol": place.protocol,
                "method": row,
                "metric": metric,
            }
            lines.append(keys | line | {"n_seeds": len(own[row]), "best": row == best, "p_adjusted": p_values.get(row)})
    frame = pl.DataFrame(lines, schema=SUMMARY)
    return pl.concat(frame.filter(pl.col("method") == row) for row in rows)


def _line(mean: float, samples: Values, best: float, gaps: Values) -> dict[str, float]:
    low, high = np.percentile(samples, INTERVAL)
    gap_low, gap_high = np.percentile(gaps, INTERVAL)
    numbers = (mean, low, high, mean - best, gap_low, gap_high)
    names = ("value", "ci_low", "ci_high", "difference", "difference_low", "difference_high")
    return dict(zip(names, map(float, numbers), strict=True))


def rows_of(measured: dict[Case, Measured]) -> list[str]:
    """Return the names of the rows, in the order of `measured`."""
    return list(dict.fromkeys(case.row for case in measured))
