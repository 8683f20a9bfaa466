"""Compute the metrics of all methods on a task from their ranks, lists and decisions, and compare the methods.

metrics.parquet has one row per method, seed and metric, with a bootstrap interval. summary.parquet has means over
seeds, with a paired test against the best method. For metrics of label sets, each decision of a method has its own
rows.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.config.dataset import Propensity
from vsebench.core.errors import UserError
from vsebench.core.schemas import BY_FREQUENCY, COLD, METRICS, PAIRS, SIBLINGS, SUMMARY
from vsebench.core.storage import read_json, read_table, write_table
from vsebench.core.tasks import FROM_PACK, Case, Entry, Task, common_seeds
from vsebench.evaluation.by_frequency import cutoff_for, recall_by_frequency
from vsebench.evaluation.measuring import Measured, Ranked, measure, measure_sets, values_of_cold
from vsebench.evaluation.metrics.base import RankMetric, is_of_decision, load_metric
from vsebench.evaluation.reading import frequencies_of, learnt_of, n_candidates_of, read_ranked, read_sets, spread_at
from vsebench.evaluation.spread import Spread
from vsebench.evaluation.summary import BySeed, metrics_table, summarise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--variants", nargs="+", required=True)
    parser.add_argument("--decisions", nargs="*", default=[], help="decisions, as variant/decision")
    parser.add_argument("--not-compared", nargs="*", default=[], help="oracles, as variant or variant/decision")
    parser.add_argument("--seeds", nargs="+", type=int, required=True, help="seeds that at least one method has")
    parser.add_argument(
        "--own-seeds", type=json.loads, default={}, help='JSON: {"dataset/protocol/variant": [seed, ...], ...}'
    )
    parser.add_argument("--metrics", nargs="+", required=True, help="names of metrics, such as recall@10")
    parser.add_argument("--bootstrap", type=int, required=True, help="number of resamples")
    parser.add_argument("--siblings", type=Path, help="siblings.parquet, for list metrics")
    parser.add_argument(
        "--propensity", type=json.loads, help='JSON, for metrics that need label frequencies: {"a": 0.55, "b": 1.5}'
    )
    parser.add_argument("--packs", type=Path, help="packs.json, if methods come from packs")
    parser.add_argument("--out", type=Path, required=True, help="metrics.parquet to write")
    parser.add_argument("--summary", type=Path, required=True, help="summary.parquet to write")
    parser.add_argument("--cold", type=Path, required=True, help="cold.parquet to write")
    parser.add_argument("--by-frequency", type=Path, required=True, help="by_frequency.parquet to write")


def run(arguments: argparse.Namespace) -> None:
    task = Task(arguments.dataset, arguments.protocol)
    arguments.variants = that_fit(arguments.variants, task, arguments.packs)
    of_decisions = [name for name in arguments.metrics if is_of_decision(name)]
    of_rankings = [name for name in arguments.metrics if name not in of_decisions]
    not_compared = [Entry.of(name) for name in arguments.not_compared]
    parts = [(of_rankings, measure_rankings(arguments, task, of_rankings))]
    if arguments.decisions and of_decisions:
        parts.append((of_decisions, measure_decisions(arguments, task, of_decisions)))
    write_table(pl.concat(metrics_table(task, measured, names) for names, measured in parts), METRICS, arguments.out)
    n_labels = n_candidates_of(Case(task, arguments.variants[0], arguments.seeds[0]), arguments.results)
    spreads = spreads_of(arguments, task)
    summaries = [summarise(task, measured, names, not_compared, n_labels, spreads) for names, measured in parts]
    write_table(pl.concat(summaries), SUMMARY, arguments.summary)
    write_table(measure_cold(arguments, task, of_rankings), COLD, arguments.cold)
    write_table(measure_by_frequency(arguments, task, of_rankings), BY_FREQUENCY, arguments.by_frequency)


def that_fit(variants: list[str], task: Task, packs: Path | None) -> list[str]:
    """Return the methods in `variants`, without those that packs.json leaves out for this task.

    `packs` is the path of packs.json, or None if no methods come from packs.
    """
    left_out = read_json(packs)["left_out"] if packs else []
    names = {left["method"] for left in left_out if of_task(left, task)}
    return [variant for variant in variants if variant not in names]


def spreads_of(arguments: argparse.Namespace, task: Task) -> dict[str, Spread]:
    """Return, for each method, how much its metrics vary due to the choice of its settings."""
    entries = read_json(arguments.packs)["settings"] if arguments.packs else []
    spreads = {entry["method"]: entry.get("spread", {}) for entry in entries if of_task(entry, task)}
    for variant in arguments.variants:
        if FROM_PACK not in variant:
            (first, *_) = common_seeds(arguments.seeds, arguments.own_seeds, task, [variant])
            spreads[variant] = spread_at(Case(task, variant, first), arguments.results)
    return spreads


def of_task(entry: dict[str, Any], task: Task) -> bool:
    return Task(entry["dataset"], entry["protocol"]) == task


def measure_rankings(arguments: argparse.Namespace, task: Task, metrics: list[str]) -> dict[Entry, BySeed]:
    """Return the metrics of the rankings, for each method and seed."""
    siblings = read_table(arguments.siblings, SIBLINGS) if arguments.siblings else None
    propensity = Propensity(**arguments.propensity) if arguments.propensity else None
    by_entry: dict[Entry, dict[int, Measured]] = {Entry(variant): {} for variant in arguments.variants}
    for seed in arguments.seeds:
        variants = with_seed(arguments, task, seed)
        cases = [Case(task, variant, seed) for variant in variants]
        ranked = [read_ranked(case, arguments.results) for case in cases]
        check_same_images(ranked, cases)
        n_labels, learnt = n_candidates_of(cases[0], arguments.results), learnt_of(cases[0], arguments.results)
        frequencies = frequencies_of(cases[0], arguments.results, propensity) if propensity else None
        measured = measure(ranked, metrics, n_labels, arguments.bootstrap, siblings, learnt, frequencies)
        for variant, of_variant in zip(variants, measured, strict=True):
            by_entry[Entry(variant)][seed] = of_variant
    return dict(by_entry)


def measure_cold(arguments: argparse.Namespace, task: Task, metrics: list[str]) -> pl.DataFrame:
    """Return metrics of images with and without training labels, as the table `schemas.COLD`.

    A test image is cold if it has no training label, although other test images have some. If no test images are cold,
    the table is empty.
    """
    cases = [
        Case(task, variant, seed)
        for variant in arguments.variants
        for seed in common_seeds(arguments.seeds, arguments.own_seeds, task, [variant])
    ]
    names = [name for name in metrics if isinstance(load_metric(name), RankMetric)]
    parts = [pl.DataFrame(schema=COLD)]
    for case in cases:
        ranks = read_ranked(case, arguments.results).ranks
        if ranks["cold"].any():
            keys = {key: pl.lit(value) for key, value in case.keys.items()}
            parts.append(values_of_cold(ranks, names).with_columns(**keys).select(*COLD).cast(COLD))
    return pl.concat(parts)


def measure_by_frequency(arguments: argparse.Namespace, task: Task, metrics: list[str]) -> pl.DataFrame:
    """Return the recall of frequent and rare labels, as the table `schemas.BY_FREQUENCY`."""
    first = Case(task, with_seed(arguments, task, arguments.seeds[0])[0], arguments.seeds[0])
    cutoff = cutoff_for(read_ranked(first, arguments.results).ranks, metrics)
    parts = [pl.DataFrame(schema=BY_FREQUENCY)]
    for seed in arguments.seeds:
        split = Case(task, arguments.variants[0], seed).split(arguments.results)
        training = read_table(split / "final.parquet", PAIRS)
        for variant in with_seed(arguments, task, seed):
            case = Case(task, variant, seed)
            recall = recall_by_frequency(read_ranked(case, arguments.results).ranks, training, cutoff)
            keys = {key: pl.lit(value) for key, value in case.keys.items()}
            parts.append(recall.with_columns(cutoff=cutoff, **keys).select(*BY_FREQUENCY).cast(BY_FREQUENCY))
    return pl.concat(parts)


def measure_decisions(arguments: argparse.Namespace, task: Task, metrics: list[str]) -> dict[Entry, BySeed]:
    """Return the metrics of the label sets that decisions chose, for each decision and seed."""
    by_entry: dict[Entry, dict[int, Measured]] = {Entry.of(name): {} for name in arguments.decisions}
    for seed in arguments.seeds:
        entries = [entry for entry in by_entry if entry.variant in with_seed(arguments, task, seed)]
        sets = [read_sets(Case(task, entry.variant, seed), entry.decision, arguments.results) for entry in entries]
        for entry, measured in zip(entries, measure_sets(sets, metrics, arguments.bootstrap), strict=True):
            by_entry[entry][seed] = measured
    return dict(by_entry)


def with_seed(arguments: argparse.Namespace, task: Task, seed: int) -> list[str]:
    """Return the methods that have a model fitted with this seed."""
    seeds, own = arguments.seeds, arguments.own_seeds
    return [variant for variant in arguments.variants if seed in common_seeds(seeds, own, task, [variant])]


def check_same_images(ranked: list[Ranked], cases: list[Case]) -> None:
    """Raise a `UserError` unless all models were tested on the same labels."""
    first = ranked[0].ranks.select("image", "label")
    for model, case in zip(ranked, cases, strict=True):
        if not first.equals(model.ranks.select("image", "label")):
            difference = f"its held-out labels differ from those of {cases[0].variant}"
            raise UserError(f"{case}: {difference}; delete its ranks and run again")
