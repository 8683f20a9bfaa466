"""Fitting a method to training and validation labels together, with the settings and epochs chosen before."""

import argparse
import json
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.core.errors import UserError
from vsebench.core.machine import describe
from vsebench.core.places import Run
from vsebench.core.storage import read_json, read_parquet, write_arrays, write_json, write_parquet
from vsebench.core.workers import Workers, workers
from vsebench.evaluation.ranking import check_finite, read_split
from vsebench.methods.base import Method, Scorer, load_method, read_settings, warm_up
from vsebench.problem import LabelMatrix
from vsebench.selection import DivergenceError, add_run_arguments, history, timed_epoch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument("--processed", type=Path, required=True, help="folder of the label matrix")
    parser.add_argument("--selection", type=Path, help="folder of selection.json; none for untrained methods")
    parser.add_argument("--out", type=Path, required=True, help="folder for model.npz, history.parquet, run.json")


def run(arguments: argparse.Namespace) -> None:
    run_ = Run(arguments.dataset, arguments.protocol, arguments.row, arguments.seed)
    train = read_split(arguments.split, "train", "valid")
    selection: dict[str, Any] = {"settings": arguments.settings, "epochs": None}
    selected = history([], run_, "selection")
    if arguments.selection:
        selection = read_json(arguments.selection / "selection.json")
        selected = read_parquet(arguments.selection / "selection.parquet")
    model, refit = fit(arguments, selection, train, run_)
    check_finite(model, str(run_))
    write_arrays(arguments.out / "model.npz", **model.arrays())
    write_parquet(pl.concat([selected, refit]), arguments.out / "history.parquet")
    write_json(
        {
            "dataset": run_.dataset,
            "protocol": run_.protocol,
            "method": run_.method,
            "module": arguments.method,
            "seed": run_.seed,
            "threads": arguments.threads,
            "selection": selection,
            **describe(),
        },
        arguments.out / "run.json",
    )


def fit(
    arguments: argparse.Namespace, selection: dict[str, Any], train: LabelMatrix, run_: Run
) -> tuple[Scorer, pl.DataFrame]:
    """Train a method, or build an untrained one; return the model and its history."""
    method = load_method(arguments.method)
    if not issubclass(method, Method):
        settings = read_settings(method, selection["settings"], f"config/methods/{run_.method}.yaml: settings")
        model = method(train, settings, run_.seed, arguments.processed)
        return model.scorer(), history([], run_, "refit")
    if selection["epochs"] is None:
        raise UserError(f"config/methods/{run_.method}.yaml: epochs: this key is missing, {arguments.method} needs it")
    with workers(arguments.threads) as pool:
        try:
            trained, rows = train_epochs(method, selection["settings"], selection["epochs"], train, run_, pool)
        except DivergenceError:
            raise UserError(
                f"{run_}: training diverged on training and validation labels together with "
                f"{json.dumps(selection['settings'])}; lower learning_rate or raise regularisation"
            ) from None
        return trained.scorer(), history(rows, run_, "refit")


def train_epochs(
    method: type[Method], values: dict[str, Any], epochs: int, train: LabelMatrix, run_: Run, pool: Workers
) -> tuple[Method, list[dict[str, Any]]]:
    """Train so many epochs; return the method and its history. Raises `DivergenceError`."""
    settings = read_settings(method, values, f"config/methods/{run_.method}.yaml: settings")
    warm_up(method, settings)
    trained = method(train, settings, run_.seed, pool)
    return trained, [timed_epoch(trained, epoch) for epoch in range(1, epochs + 1)]
