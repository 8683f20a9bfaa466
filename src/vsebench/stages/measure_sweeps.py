"""Compute the metrics of all models that sweeps fitted, and write sweeps.parquet."""

import argparse
from pathlib import Path

import polars as pl

from vsebench.core.schemas import SWEEP, SWEEP_RANKS, SWEEPS
from vsebench.core.storage import read_table, write_table
from vsebench.evaluation.metrics import values


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sweeps", type=Path, nargs="+", required=True, help="tables of the stage sweep")
    parser.add_argument("--ranks", type=Path, nargs="+", required=True, help="the sweeps' ranks, in the same order")
    parser.add_argument("--metrics", nargs="+", required=True, help="metrics of the labels' ranks, such as recall@10")
    parser.add_argument("--out", type=Path, required=True, help="sweeps.parquet to write")


def run(arguments: argparse.Namespace) -> None:
    parts = [
        measure(read_table(sweep, SWEEP), read_table(ranks, SWEEP_RANKS), arguments.metrics)
        for sweep, ranks in zip(arguments.sweeps, arguments.ranks, strict=True)
    ]
    write_table(pl.concat([pl.DataFrame(schema=SWEEPS), *parts]), SWEEPS, arguments.out)


def measure(sweep: pl.DataFrame, ranks: pl.DataFrame, metrics: list[str]) -> pl.DataFrame:
    """Return the metrics of one sweep as the table `schemas.SWEEPS`.

    The table has one row for each metric and each value of the setting that the sweep varies.
    """
    lines = []
    for line in sweep.iter_rows(named=True):
        means = values(ranks.filter(value=line["value"]).drop("value"), metrics).mean(axis=0)
        lines += [line | {"metric": metric, "test": mean} for metric, mean in zip(metrics, means.tolist(), strict=True)]
    return pl.DataFrame(lines, schema=SWEEPS)
