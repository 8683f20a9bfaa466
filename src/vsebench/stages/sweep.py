"""One setting of a method varied around the chosen ones: how much it matters (VSE-fs paper, Fig. 2 (b)).

For each value the number of epochs is chosen on the validation labels, then the method is fitted to training and
validation labels together and meets the test labels, as in the main results. All other settings stay as chosen.
"""

import argparse
import json
from pathlib import Path

import polars as pl
from tqdm import tqdm

from vsebench.core.places import Run
from vsebench.core.storage import read_json, read_parquet, write_parquet
from vsebench.core.workers import Workers, workers
from vsebench.evaluation.metrics import metric_columns, values
from vsebench.evaluation.ranking import rank_held_out, read_split
from vsebench.selection import (
    DivergenceError,
    Validation,
    add_run_arguments,
    add_validation_arguments,
    attempt,
    open_method,
    open_validation,
)
from vsebench.training import train_epochs

KEYS = {"dataset": pl.String, "protocol": pl.String, "method": pl.String, "seed": pl.Int64, "parameter": pl.String}
METRICS = {**KEYS, "value": pl.Float64, "chosen": pl.Boolean, "epochs": pl.Int32, "validation": pl.Float64}
METRICS |= {"metric": pl.String, "cutoff": pl.Int32, "test": pl.Float64}
RANKS = {"value": pl.Float64, "image": pl.Int32, "label": pl.Int32}
RANKS |= {"rank": pl.Int32, "ties": pl.Int32, "candidates": pl.Int32}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    add_validation_arguments(parser)
    parser.add_argument("--selection", type=Path, required=True, help="selection.json")
    parser.add_argument("--parameter", required=True, help="the setting to vary")
    parser.add_argument("--values", type=json.loads, required=True, help="JSON list of numbers")
    parser.add_argument("--ranks", type=Path, required=True, help="parquet: the ranks with each value")
    parser.add_argument("--out", type=Path, required=True, help="parquet: a row a value and metric")


def run(arguments: argparse.Namespace) -> None:
    validation = open_validation(arguments)
    run_ = Run(arguments.dataset, arguments.protocol, arguments.row, arguments.seed)
    tables, ranks = [pl.DataFrame(schema=METRICS)], [pl.DataFrame(schema=RANKS)]
    with workers(arguments.threads) as pool:
        for value in tqdm(arguments.values, desc=f"{run_}: {arguments.parameter}", mininterval=5):
            table, frame = try_value(arguments, run_, value, validation, pool)
            tables.append(table.select(list(METRICS)).cast(METRICS))  # type: ignore[arg-type]
            ranks.append(frame.with_columns(value=pl.lit(value)).select(list(RANKS)).cast(RANKS))  # type: ignore[arg-type]
    write_parquet(pl.concat(ranks), arguments.ranks)
    write_parquet(pl.concat(tables), arguments.out)


def try_value(
    arguments: argparse.Namespace, run_: Run, value: float, validation: Validation, pool: Workers
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Fit the method with one value; return its metrics and ranks, without rows where training diverges."""
    method, limits = open_method(arguments)
    chosen = read_json(arguments.selection)["settings"]
    outcome, _ = attempt(method, chosen | {arguments.parameter: value}, validation, limits, run_, pool)
    known = read_split(arguments.split, "train", "valid")
    try:
        if outcome["epochs"] is None:
            raise DivergenceError
        model, _ = train_epochs(method, outcome["settings"], outcome["epochs"], known, run_, pool)
    except DivergenceError:
        return pl.DataFrame(schema=METRICS), pl.DataFrame(schema=RANKS)
    ranks = rank_held_out(model.scorer(), known, read_parquet(arguments.split / "test.parquet"), pool, str(run_))
    keys = {"dataset": run_.dataset, "protocol": run_.protocol, "method": run_.method, "seed": run_.seed}
    keys |= {"parameter": arguments.parameter, "value": value, "chosen": value == chosen[arguments.parameter]}
    keys |= {"epochs": outcome["epochs"], "validation": outcome["value"]}
    metrics = pl.DataFrame({**metric_columns(), "test": values(ranks).mean(axis=0)})
    return metrics.with_columns(pl.lit(value).alias(key) for key, value in keys.items()), ranks
