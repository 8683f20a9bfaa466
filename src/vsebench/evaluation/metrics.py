"""Metrics of one held-out label an image, as expressions over its rank, and their bootstrap intervals.

Ties never help: among t others with the same score a label takes the worst place for everything that is cut at N and
for MRR, and the mean place for the full AUC. With r the place, n = candidates - 1 the negatives, and no place (a miss)
where the held-out label is no candidate:

    pre@N   1 / N if r <= N, else 0                  ndcg@N   1 / log2(1 + r) if r <= N, else 0
    rec@N   1 if r <= N, else 0                      auc@N    1 - (r - 1) / n if r <= N, else 1/2
    map@N   1 / r if r <= N, else 0                  mrr      1 / r             auc   1 - (r - 1) / n, a miss 1/2

auc@N is the AUC of a list that is cut at N, as the LibRec family of evaluators computes it and both VSE papers print
it; it must not be compared with the full AUC.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.places import Run
from vsebench.core.storage import read_parquet, write_parquet

CUTOFFS = (5, 10)
BOOTSTRAP_SEED = 95
INTERVAL = (2.5, 97.5)  # percent

WORST = (pl.col("rank") + pl.col("ties")).cast(pl.Float64)
MEAN = pl.col("rank") + pl.col("ties") / 2
NEGATIVES = pl.max_horizontal(pl.col("candidates") - 1, 1)


def _cut(cutoff: int, value: pl.Expr, miss: float = 0.0) -> pl.Expr:
    return pl.when(cutoff >= WORST).then(value).otherwise(miss)


def _metrics() -> dict[str, pl.Expr]:
    expressions = {}
    for n in CUTOFFS:
        expressions[f"pre@{n}"] = _cut(n, pl.lit(1 / n))
        expressions[f"rec@{n}"] = _cut(n, pl.lit(1.0))
        expressions[f"map@{n}"] = _cut(n, 1 / WORST)
        expressions[f"ndcg@{n}"] = _cut(n, 1 / (1 + WORST).log(2))
        expressions[f"auc@{n}"] = _cut(n, 1 - (WORST - 1) / NEGATIVES, miss=0.5)
    expressions["mrr"] = (1 / WORST).fill_null(0.0)
    expressions["auc"] = (1 - (MEAN - 1) / NEGATIVES).fill_null(0.5)
    return expressions


METRICS = _metrics()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ranks", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--method", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--bootstrap", type=int, required=True, help="number of resamples")
    parser.add_argument("--out", type=Path, required=True, help="metrics.parquet")


def run(arguments: argparse.Namespace) -> None:
    ranks = read_parquet(arguments.ranks)
    run_ = Run(arguments.dataset, arguments.protocol, arguments.method, arguments.seed)
    write_parquet(measure(ranks, run_, arguments.bootstrap), arguments.out)


def check_metric(name: str) -> None:
    if name not in METRICS:
        raise UserError(f"validation_metric: {name!r} is none of {', '.join(METRICS)}")


def mean_metric(ranks: pl.DataFrame, name: str) -> float:
    """Return one metric, averaged over the held-out labels."""
    return float(ranks.select(METRICS[name].mean()).item())


def values(ranks: pl.DataFrame) -> NDArray[np.float64]:
    """Return every metric of every held-out label, (n_held_out, n_metrics), columns in the order of METRICS."""
    return ranks.select(**METRICS).to_numpy()


def measure(ranks: pl.DataFrame, run: Run, resamples: int) -> pl.DataFrame:
    """Return a row a metric: dataset, protocol, method, seed, metric, cutoff, value, ci_low, ci_high, n_images."""
    table = values(ranks)
    low, high = np.percentile(bootstrap_means(table, resamples), INTERVAL, axis=0)
    n = len(METRICS)
    return pl.DataFrame(
        {
            "dataset": [run.dataset] * n,
            "protocol": [run.protocol] * n,
            "method": [run.method] * n,
            "seed": [run.seed] * n,
            **metric_columns(),
            "value": table.mean(axis=0),
            "ci_low": low,
            "ci_high": high,
            "n_images": [ranks["image"].n_unique()] * n,
        },
        schema_overrides={"seed": pl.Int64, "cutoff": pl.Int32, "n_images": pl.Int64},
    )


def metric_columns() -> dict[str, list[str] | list[int | None]]:
    """Return the columns metric and cutoff of a table with a row a metric."""
    names = [name.partition("@") for name in METRICS]
    return {
        "metric": [metric for metric, _, _ in names],
        "cutoff": [int(cutoff) if cutoff else None for _, _, cutoff in names],
    }


def bootstrap_means(table: NDArray[np.float64], resamples: int) -> NDArray[np.float64]:
    """Return the column means of `resamples` samples of rows with replacement, (resamples, n_columns).

    The resamples depend on the numbers of rows and resamples only, so two models on the same images are compared on
    the same resamples.
    """
    n = len(table)
    rng = np.random.Generator(np.random.PCG64([BOOTSTRAP_SEED, n]))
    means = np.empty((resamples, table.shape[1]))
    for b in range(resamples):
        means[b] = np.bincount(rng.integers(0, n, n), minlength=n) @ table
    return means / n
