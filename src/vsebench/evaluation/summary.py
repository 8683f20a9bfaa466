"""Means over seeds with intervals, and paired comparisons against the best method of a data set."""

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.places import CEILING, Run
from vsebench.core.storage import read_parquet, write_parquet
from vsebench.evaluation.metrics import BOOTSTRAP_SEED, INTERVAL, METRICS, bootstrap_means, metric_columns, values

Means = NDArray[np.float64]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--methods", nargs="+", required=True)
    parser.add_argument("--seeds", nargs="+", type=int, required=True)
    parser.add_argument("--bootstrap", type=int, required=True, help="number of resamples")
    parser.add_argument("--out", type=Path, required=True, help="summary.parquet")


def run(arguments: argparse.Namespace) -> None:
    def read(method: str, seed: int) -> pl.DataFrame:
        run = Run(arguments.dataset, arguments.protocol, method, seed)
        return read_parquet(run.folder(arguments.results) / "ranks.parquet")

    ranks = {method: [read(method, seed) for seed in arguments.seeds] for method in arguments.methods}
    summary = summarise(ranks, arguments.bootstrap)
    keys = [pl.lit(arguments.dataset).alias("dataset"), pl.lit(arguments.protocol).alias("protocol")]
    write_parquet(summary.select(*keys, pl.all()), arguments.out)


def summarise(ranks: dict[str, list[pl.DataFrame]], resamples: int) -> pl.DataFrame:
    """Compare methods that were tested on the same images.

    Parameters
    ----------
    ranks : for each method its ranks, a table a seed
    resamples : bootstrap resamples, of the images and of the seeds

    Returns
    -------
    a row a method and metric: method, metric, cutoff, value (mean over seeds), ci_low, ci_high, n_seeds, best (highest
    mean but for the ceiling), difference to the best with difference_low and difference_high, and p_adjusted: two-sided
    paired bootstrap test of no difference, Holm-corrected over the methods; null for the best itself and the ceiling
    """
    tables = {method: [values(frame) for frame in frames] for method, frames in ranks.items()}
    means = {method: np.mean([table.mean(axis=0) for table in seeds], axis=0) for method, seeds in tables.items()}
    samples = {method: resample(seeds, resamples) for method, seeds in tables.items()}
    contenders = [method for method in ranks if method != CEILING] or list(ranks)
    best = [max(contenders, key=lambda method: means[method][column]) for column in range(len(METRICS))]
    p_values = {
        column: holm({m: p_value(samples[best[column]][:, column] - samples[m][:, column])
                      for m in contenders if m != best[column]})
        for column in range(len(METRICS))
    }  # fmt: skip
    rows = [_rows(method, means, samples, best, p_values, n_seeds=len(tables[method])) for method in ranks]
    return pl.concat(rows)


def _rows(
    method: str,
    means: dict[str, Means],
    samples: dict[str, Means],
    best: list[str],
    p_values: dict[int, dict[str, float]],
    n_seeds: int,
) -> pl.DataFrame:
    columns = range(len(METRICS))
    low, high = np.percentile(samples[method], INTERVAL, axis=0)
    gaps = np.stack([samples[method][:, c] - samples[best[c]][:, c] for c in columns], axis=1)
    gap_low, gap_high = np.percentile(gaps, INTERVAL, axis=0)
    return pl.DataFrame(
        {
            "method": [method] * len(METRICS),
            **metric_columns(),
            "value": means[method],
            "ci_low": low,
            "ci_high": high,
            "n_seeds": [n_seeds] * len(METRICS),
            "best": [best[c] == method for c in columns],
            "difference": [means[method][c] - means[best[c]][c] for c in columns],
            "difference_low": gap_low,
            "difference_high": gap_high,
            "p_adjusted": [p_values[c].get(method) for c in columns],
        },
        schema_overrides={"cutoff": pl.Int32, "n_seeds": pl.Int32, "p_adjusted": pl.Float64},
    )


def resample(seeds: list[NDArray[np.float64]], resamples: int) -> Means:
    """Return bootstrap means over images and seeds, (resamples, n_metrics); images are the same for all seeds."""
    by_seed = np.stack([bootstrap_means(table, resamples) for table in seeds])
    rng = np.random.Generator(np.random.PCG64([BOOTSTRAP_SEED, len(seeds)]))
    drawn = rng.integers(0, len(seeds), (resamples, len(seeds)))
    means: Means = by_seed[drawn, np.arange(resamples)[:, np.newaxis]].mean(axis=1)
    return means


def p_value(differences: Means) -> float:
    """Two-sided bootstrap p-value of no difference; never 0, since no finite sample shows that."""
    n = len(differences)
    tail = min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0))
    return min(1.0, 2 * (tail + 1) / (n + 1))


def holm(p_values: dict[str, float]) -> dict[str, float]:
    """Holm's step-down correction (Scandinavian Journal of Statistics 6, 1979)."""
    adjusted = {}
    largest = 0.0
    for place, method in enumerate(sorted(p_values, key=lambda m: p_values[m])):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[method]))
        adjusted[method] = largest
    return adjusted
