"""Compute the metrics of all rows of a place from their ranks, lists and decisions, and compare them with each other.

Writes metrics.parquet (one row per method, seed and metric, with a bootstrap interval) and summary.parquet (means over
seeds, with a paired test against the best method). Metrics of the label sets that decisions chose have lines of their
own: one for each row with each of its decisions. cold.parquet has the metrics of images with and without a training
label apart, where there are images without. by_frequency.parquet has the recall of frequent and of rare labels.
"""

import argparse
from pathlib import Path

import polars as pl

from vsebench.core.errors import UserError
from vsebench.core.places import Case, Entry, Place
from vsebench.core.schemas import BY_FREQUENCY, COLD, METRICS, SUMMARY
from vsebench.core.storage import read_parquet, write_table
from vsebench.evaluation.by_frequency import recall_by_frequency
from vsebench.evaluation.measuring import Measured, Ranked, measure, measure_sets, values_of_cold
from vsebench.evaluation.metrics.base import RankMetric, is_of_decision, load_metric
from vsebench.evaluation.reading import n_candidates_of, read_ranked, read_sets
from vsebench.evaluation.summary import BySeed, metrics_table, summarise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--rows", nargs="+", required=True)
    parser.add_argument("--decisions", nargs="*", default=[], help="as row/decision")
    parser.add_argument("--not-compared", nargs="*", default=[], help="rows and row/decisions that are not compared")
    parser.add_argument("--seeds", nargs="+", type=int, required=True)
    parser.add_argument("--metrics", nargs="+", required=True, help="such as recall@10")
    parser.add_argument("--bootstrap", type=int, required=True, help="number of resamples")
    parser.add_argument("--siblings", type=Path, help="siblings.parquet, for metrics of lists")
    parser.add_argument("--out", type=Path, required=True, help="metrics.parquet")
    parser.add_argument("--summary", type=Path, required=True, help="summary.parquet")
    parser.add_argument("--cold", type=Path, required=True, help="cold.parquet")
    parser.add_argument("--by-frequency", type=Path, required=True, help="by_frequency.parquet")


def run(arguments: argparse.Namespace) -> None:
    place = Place(arguments.dataset, arguments.protocol)
    of_decisions = [name for name in arguments.metrics if is_of_decision(name)]
    of_rankings = [name for name in arguments.metrics if name not in of_decisions]
    not_compared = [Entry.of(name) for name in arguments.not_compared]
    parts = [(of_rankings, measure_rankings(arguments, place, of_rankings))]
    if arguments.decisions and of_decisions:
        parts.append((of_decisions, measure_decisions(arguments, place, of_decisions)))
    write_table(pl.concat(metrics_table(place, found, names) for names, found in parts), METRICS, arguments.out)
    summaries = [summarise(place, found, names, not_compared) for names, found in parts]
    write_table(pl.concat(summaries), SUMMARY, arguments.summary)
    write_table(measure_cold(arguments, place, of_rankings), COLD, arguments.cold)
    write_table(measure_by_frequency(arguments, place, of_rankings), BY_FREQUENCY, arguments.by_frequency)


def measure_rankings(arguments: argparse.Namespace, place: Place, metrics: list[str]) -> dict[Entry, BySeed]:
    """Return the metrics of every row's ranking."""
    siblings = read_parquet(arguments.siblings) if arguments.siblings else None
    found: dict[Entry, dict[int, Measured]] = {Entry(row): {} for row in arguments.rows}
    for seed in arguments.seeds:
        cases = [Case(place, row, seed) for row in arguments.rows]
        ranked = [read_ranked(case, arguments.results) for case in cases]
        check_same_images(ranked, cases)
        measured = measure(ranked, metrics, n_candidates_of(cases[0], arguments.results), arguments.bootstrap, siblings)
        for row, one in zip(arguments.rows, measured, strict=True):
            found[Entry(row)][seed] = one
    return dict(found)


def measure_cold(arguments: argparse.Namespace, place: Place, metrics: list[str]) -> pl.DataFrame:
    """Return metrics of images with and without a training label; no lines if every image has one, or none has."""
    cases = [Case(place, row, seed) for row in arguments.rows for seed in arguments.seeds]
    names = [name for name in metrics if isinstance(load_metric(name), RankMetric)]
    parts = [pl.DataFrame(schema=COLD)]
    for case in cases:
        ranks = read_ranked(case, arguments.results).ranks
        if ranks["cold"].any():
            keys = {key: pl.lit(value) for key, value in case.keys.items()}
            parts.append(values_of_cold(ranks, names).with_columns(**keys).select(*COLD).cast(COLD))
    return pl.concat(parts)


def measure_by_frequency(arguments: argparse.Namespace, place: Place, metrics: list[str]) -> pl.DataFrame:
    """Return the recall of frequent and of rare labels, within the first cutoff of the metrics, or 10."""
    cutoff = next((cut for name in metrics if (cut := load_metric(name).cutoff)), 10)
    parts = [pl.DataFrame(schema=BY_FREQUENCY)]
    for seed in arguments.seeds:
        training = read_parquet(Case(place, arguments.rows[0], seed).split(arguments.results) / "final.parquet")
        for row in arguments.rows:
            case = Case(place, row, seed)
            found = recall_by_frequency(read_ranked(case, arguments.results).ranks, training, cutoff)
            keys = {key: pl.lit(value) for key, value in case.keys.items()}
            parts.append(found.with_columns(cutoff=cutoff, **keys).select(*BY_FREQUENCY).cast(BY_FREQUENCY))
    return pl.concat(parts)


def measure_decisions(arguments: argparse.Namespace, place: Place, metrics: list[str]) -> dict[Entry, BySeed]:
    """Return the metrics of the label sets that decisions chose."""
    entries = [Entry.of(name) for name in arguments.decisions]
    found: dict[Entry, dict[int, Measured]] = {entry: {} for entry in entries}
    for seed in arguments.seeds:
        sets = [read_sets(Case(place, entry.row, seed), entry.decision, arguments.results) for entry in entries]
        for entry, one in zip(entries, measure_sets(sets, metrics, arguments.bootstrap), strict=True):
            found[entry][seed] = one
    return dict(found)


def check_same_images(ranked: list[Ranked], cases: list[Case]) -> None:
    """Refuse to compare models that were not tested on the same labels."""
    first = ranked[0].ranks.select("image", "label")
    for other, case in zip(ranked, cases, strict=True):
        if not first.equals(other.ranks.select(pl.col("image"), pl.col("label"))):
            raise UserError(
                f"{case}: ranks of other held-out labels than those of {cases[0].row}; delete and run again"
            )
