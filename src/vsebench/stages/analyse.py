"""Compute an analysis of fitted models; each analysis is a module in vsebench/evaluation/analyses."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from vsebench.core.modules import modules_in
from vsebench.core.schemas import Schema
from vsebench.core.sources import summary_of
from vsebench.core.storage import write_table
from vsebench.core.tasks import Case, common_seeds, entry_at_task
from vsebench.evaluation.analyses import known_analyses
from vsebench.evaluation.analyses.base import AnalysedCase, AnalysedDataset, load_analysis


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command-line arguments, which are the same for all analyses."""
    analyses = parser.add_subparsers(dest="analysis", required=True, metavar="NAME")
    for name in known_analyses():
        summary = summary_of(modules_in("evaluation/analyses")[name])
        analysis = analyses.add_parser(name, help=summary, description=summary)
        analysis.add_argument("--results", type=Path, required=True, help="folder with the results")
        analysis.add_argument("--processed", type=Path, required=True, help="folder with the processed data sets")
        analysis.add_argument(
            "--variants", nargs="+", required=True, help="models, as dataset/protocol/variant or .../variant/decision"
        )
        analysis.add_argument("--seeds", nargs="+", type=int, required=True)
        analysis.add_argument(
            "--own-seeds", type=json.loads, default={}, help='JSON: {"dataset/protocol/variant": [seed, ...], ...}'
        )
        analysis.add_argument("--with-siblings", nargs="*", default=[], help="data sets with a siblings.parquet")
        form = 'JSON: {"dataset/protocol/variant": [features file, ...], ...}'
        analysis.add_argument("--features", type=json.loads, default={}, help=form)
        analysis.add_argument("--out", type=Path, required=True)


def run(arguments: argparse.Namespace) -> None:
    analysis = load_analysis(arguments.analysis)
    tables = [pl.DataFrame(schema=analysis.SCHEMA)]
    for case in analysed_cases(arguments):
        table = analysis.analyse(case)
        if table is not None:
            tables.append(of_case(table, case, analysis.SCHEMA))
    write_table(pl.concat(tables), analysis.SCHEMA, arguments.out)


def of_case(table: pl.DataFrame, case: AnalysedCase, schema: Schema) -> pl.DataFrame:
    """Return the table of an analysis with added columns that identify the case."""
    keys = case.case.keys | ({"decision": case.decision} if "decision" in schema else {})
    return table.with_columns(**{key: pl.lit(value) for key, value in keys.items()}).select(*schema).cast(schema)


def analysed_cases(arguments: argparse.Namespace) -> Iterator[AnalysedCase]:
    """Yield a case for each seed of each variant that the arguments name."""
    entries = [entry_at_task(name) for name in arguments.variants]
    datasets = {task.dataset: analysed_dataset(arguments, task.dataset) for task, _ in entries}
    for task, entry in entries:
        analysed = [same.variant for own_task, same in entries if own_task == task and not same.decision]
        seeds = common_seeds(arguments.seeds, arguments.own_seeds, task, [entry.variant])
        for seed in seeds:
            case, is_first = Case(task, entry.variant, seed), seed == seeds[0]
            yield AnalysedCase(case, entry.decision, arguments.results, datasets[task.dataset], is_first, analysed)


def analysed_dataset(arguments: argparse.Namespace, name: str) -> AnalysedDataset:
    """Return the data set `name`, with the paths of its files from the arguments."""
    folder, has_siblings = arguments.processed / name, name in arguments.with_siblings
    features = {variant: [Path(file) for file in files] for variant, files in arguments.features.items()}
    return AnalysedDataset(folder, features, has_siblings)
