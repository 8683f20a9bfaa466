"""Compute the metrics of all rows of a place from their ranks and lists, and compare the rows with each other.

Writes metrics.parquet (one row per method, seed and metric, with a bootstrap interval) and summary.parquet (means over
seeds, with a paired test against the best method).
"""

import argparse
from pathlib import Path

import polars as pl

from vsebench.core.errors import UserError
from vsebench.core.places import Case, Place
from vsebench.core.schemas import METRICS, SUMMARY
from vsebench.core.storage import read_json, read_parquet, write_table
from vsebench.evaluation.measuring import Measured, Ranked, measure
from vsebench.evaluation.summary import metrics_table, summarise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--rows", nargs="+", required=True)
    parser.add_argument("--not-compared", nargs="*", default=[], help="rows that are not compared, such as an oracle")
    parser.add_argument("--seeds", nargs="+", type=int, required=True)
    parser.add_argument("--metrics", nargs="+", required=True, help="such as recall@10")
    parser.add_argument("--bootstrap", type=int, required=True, help="number of resamples")
    parser.add_argument("--siblings", type=Path, help="siblings.parquet, for metrics of lists")
    parser.add_argument("--out", type=Path, required=True, help="metrics.parquet")
    parser.add_argument("--summary", type=Path, required=True, help="summary.parquet")


def run(arguments: argparse.Namespace) -> None:
    place = Place(arguments.dataset, arguments.protocol)
    siblings = read_parquet(arguments.siblings) if arguments.siblings else None
    found: dict[Case, Measured] = {}
    for seed in arguments.seeds:
        cases = [Case(place, row, seed) for row in arguments.rows]
        ranked = [read_ranked(case, arguments.results) for case in cases]
        check_same_images(ranked, cases)
        size = read_json(cases[0].split(arguments.results) / "split.json")
        measured = measure(ranked, arguments.metrics, size["n_labels"], arguments.bootstrap, siblings)
        found |= dict(zip(cases, measured, strict=True))
    write_table(metrics_table(found, arguments.metrics), METRICS, arguments.out)
    summary = summarise(found, arguments.metrics, arguments.not_compared)
    write_table(summary, SUMMARY, arguments.summary)


def read_ranked(case: Case, results: Path) -> Ranked:
    """Read what the stage `rank` wrote of a case."""
    folder = case.folder(results)
    label_ranks = folder / "label_ranks.parquet"
    return Ranked(
        read_parquet(folder / "ranks.parquet"),
        read_parquet(folder / "lists.parquet"),
        read_parquet(label_ranks) if label_ranks.is_file() else None,
    )


def check_same_images(ranked: list[Ranked], cases: list[Case]) -> None:
    """Refuse to compare models that were not tested on the same labels."""
    first = ranked[0].ranks.select("image", "label")
    for other, case in zip(ranked, cases, strict=True):
        if not first.equals(other.ranks.select(pl.col("image"), pl.col("label"))):
            raise UserError(
                f"{case}: ranks of other held-out labels than those of {cases[0].row}; delete and run again"
            )
