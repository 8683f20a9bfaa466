"""Choosing settings and the number of epochs on the validation labels; the test labels are not read."""

import argparse
import itertools
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tqdm import tqdm

from vsebench.core.configuration import Epochs, check
from vsebench.core.errors import UserError
from vsebench.core.places import Run
from vsebench.core.storage import read_parquet, write_json, write_parquet
from vsebench.core.workers import Workers, workers
from vsebench.evaluation.metrics import check_metric, mean_metric
from vsebench.evaluation.ranking import has_finite_scores, rank_held_out, read_split
from vsebench.methods.base import EpochReport, Method, Scorer, load_method, read_settings, warm_up
from vsebench.problem import LabelMatrix


class DivergenceError(Exception):
    """Training left the finite numbers."""


@dataclass(frozen=True)
class Validation:
    """The validation labels, and what is measured on them."""

    known: LabelMatrix
    held_out: pl.DataFrame
    metric: str

    def value(self, model: Scorer, pool: Workers) -> float:
        return mean_metric(rank_held_out(model, self.known, self.held_out, pool, "validation"), self.metric)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    add_validation_arguments(parser)
    parser.add_argument("--grid", type=json.loads, default={}, help="JSON: values to try for some settings")
    parser.add_argument("--out", type=Path, required=True, help="selection.json")
    parser.add_argument("--history", type=Path, required=True, help="selection.parquet: every epoch of the winner")


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `select` and `train` both take."""
    parser.add_argument("--split", type=Path, required=True, help="folder of the split")
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--row", required=True, help="name of this configuration in the results")
    parser.add_argument("--method", required=True, help="module in vsebench.methods")
    parser.add_argument("--settings", type=json.loads, required=True, help="JSON")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)


def add_validation_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `select` and `sweep` both take."""
    parser.add_argument("--epochs", type=json.loads, required=True, help='JSON: {"maximum": ..., "patience": ...}')
    parser.add_argument("--metric", required=True, help="chosen by, such as ndcg@10")
    parser.add_argument("--images", type=int, required=True, help="at most so many images are validated on")


def run(arguments: argparse.Namespace) -> None:
    run_ = Run(arguments.dataset, arguments.protocol, arguments.row, arguments.seed)
    method, limits = open_method(arguments)
    validation = open_validation(arguments)
    tries, histories = [], []
    with workers(arguments.threads) as pool:
        for settings in tqdm(configurations(arguments.settings, arguments.grid), desc=str(run_), mininterval=5):
            outcome, history = attempt(method, settings, validation, limits, run_, pool)
            tries.append(outcome)
            histories.append(history)
    winner = best_try(tries, run_)
    write_parquet(histories[winner], arguments.history)
    diverged = sum(outcome["value"] is None for outcome in tries)
    write_json(
        tries[winner]
        | {"metric": arguments.metric, "n_configurations": len(tries), "diverged": diverged, "tries": tries},
        arguments.out,
    )


def open_method(arguments: argparse.Namespace) -> tuple[type[Method], Epochs]:
    """Return the method that the arguments name, and when its training stops."""
    method = load_method(arguments.method)
    if not issubclass(method, Method):
        raise UserError(f"config/methods/{arguments.row}.yaml: epochs: {arguments.method} is not trained by epochs")
    return method, check(Epochs, arguments.epochs, f"config/methods/{arguments.row}.yaml: epochs")


def open_validation(arguments: argparse.Namespace) -> Validation:
    """Return the validation labels of the split that the arguments name."""
    check_metric(arguments.metric)
    held_out = sample(read_parquet(arguments.split / "valid.parquet"), arguments.images, arguments.seed)
    return Validation(read_split(arguments.split, "train"), held_out, arguments.metric)


def configurations(settings: dict[str, Any], grid: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return the settings with every combination of the grid's values."""
    return [settings | dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def sample(held_out: pl.DataFrame, images: int, seed: int) -> pl.DataFrame:
    """Keep at most `images` held-out labels."""
    if held_out.height <= images:
        return held_out
    chosen = np.random.default_rng([seed, 3]).choice(held_out.height, images, replace=False)
    return held_out[np.sort(chosen)]


def attempt(
    method: type[Method], values: dict[str, Any], validation: Validation, limits: Epochs, run_: Run, pool: Workers
) -> tuple[dict[str, Any], pl.DataFrame]:
    """Train with one set of settings until the validation metric stops rising."""
    settings = read_settings(method, values, f"config/methods/{run_.method}.yaml: settings")
    warm_up(method, settings)
    model = method(validation.known, settings, run_.seed, pool)
    best, best_epoch = -1.0, 0
    rows: list[dict[str, Any]] = []
    try:
        for epoch in range(1, limits.maximum + 1):
            row = timed_epoch(model, epoch)
            row["validation"] = validation.value(model.scorer(), pool)
            rows.append(row)
            if row["validation"] > best:
                best, best_epoch = row["validation"], epoch
            elif epoch - best_epoch >= limits.patience:
                break
    except DivergenceError:
        return {"settings": values, "epochs": None, "value": None}, history(rows, run_, "selection")
    return {"settings": values, "epochs": best_epoch, "value": best}, history(rows, run_, "selection")


def timed_epoch(model: Method, epoch: int) -> dict[str, Any]:
    """Train one epoch and return its row of the history; raise `DivergenceError` where numbers are no longer finite."""
    start = time.perf_counter()
    report: EpochReport = model.epoch()
    seconds = time.perf_counter() - start
    finite = report.loss is None or np.isfinite(report.loss)
    if not (finite and has_finite_scores(model.scorer())):
        raise DivergenceError
    return {
        "epoch": epoch,
        "seconds": seconds,
        "loss": report.loss,
        "trials_per_step": report.trials_per_step,
        "validation": None,
    }


def history(rows: list[dict[str, Any]], run_: Run, phase: str) -> pl.DataFrame:
    """Return the table of a training: a row an epoch, seconds of training alone."""
    schema = {
        "epoch": pl.Int32,
        "seconds": pl.Float64,
        "loss": pl.Float64,
        "trials_per_step": pl.Float64,
        "validation": pl.Float64,
    }
    keys = {"dataset": run_.dataset, "protocol": run_.protocol, "method": run_.method, "seed": run_.seed}
    keyed = {name: pl.lit(value) for name, value in (keys | {"phase": phase}).items()}
    return pl.DataFrame(rows, schema=schema).select(
        *(value.alias(name) for name, value in keyed.items()), pl.all()
    )  # fmt: skip


def best_try(tries: list[dict[str, Any]], run_: Run) -> int:
    """Return the place of the highest validation value; the first of equals."""
    finite = [place for place, outcome in enumerate(tries) if outcome["value"] is not None]
    if not finite:
        raise UserError(
            f"{run_}: training diverged with every setting tried, such as {json.dumps(tries[0]['settings'])}; "
            f"lower learning_rate or raise regularisation in config/methods/{run_.method}.yaml"
        )
    return max(finite, key=lambda place: tries[place]["value"])
