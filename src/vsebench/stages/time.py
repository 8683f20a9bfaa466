"""Time the methods on one core, in a new process for each method and repeat.

Compilation is timed separately. The processes run one after another, with the settings chosen for each method. The
first repeat uses the split and the settings of the first seed, the second repeat those of the second seed, and so on.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
from tqdm import tqdm

from vsebench.cases import add_need_arguments
from vsebench.core.errors import UserError
from vsebench.core.machine import OtherProcesses, peak_memory_bytes, processor
from vsebench.core.processes import run_in_new_process
from vsebench.core.schemas import HISTORY, TIMING
from vsebench.core.storage import read_json, read_table, set_of, write_table
from vsebench.core.tasks import Case, Task
from vsebench.core.workers import workers
from vsebench.data import splits
from vsebench.data.needs import load_needs
from vsebench.data.problem import Problem
from vsebench.evaluation.convergence import to_best_epoch
from vsebench.evaluation.ranking import rank
from vsebench.evaluation.scoring_time import scoring_seconds
from vsebench.methods.base import Method, load_method, read_settings
from vsebench.models import Model
from vsebench.training import warm_up

SHORT_FIT = 2.0  # seconds; a shorter fit without epochs is run twice, because the first run also loads kernels


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, required=True)
    add_need_arguments(parser)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--seeds", type=json.loads, required=True, help="JSON list: the seed of each repeat")
    parser.add_argument("--variants", type=json.loads, required=True, help='JSON: {"variant": "module", ...}')
    sets = 'JSON: {"variant": [name, ...], ...}: the sets of features of variants that do not use all of --features'
    parser.add_argument("--feature-sets", type=json.loads, default={}, help=sets)
    parser.add_argument("--no-refit", action="store_true", help="train without the validation labels")
    parser.add_argument("--epochs", type=int, required=True, help="number of timed epochs per repeat")
    parser.add_argument(
        "--to-best-epoch", action="store_true", help="also time training up to the epoch with the best validation value"
    )
    parser.add_argument("--out", type=Path, required=True, help="timing.parquet to write")


def run(arguments: argparse.Namespace) -> None:
    turns = [(n, seed, variant) for n, seed in enumerate(arguments.seeds, 1) for variant in arguments.variants]
    records: list[dict[str, Any]] = []
    for repeat, seed, variant in tqdm(turns, desc=f"timing {arguments.dataset} ({arguments.protocol})", mininterval=5):
        try:
            phases = run_in_new_process(time_one, arguments, seed, variant)
        except UserError as error:
            raise UserError(f"timing {variant} failed: {error}") from None
        records += [phase | {"repeat": repeat} for phase in phases]
    write_table(pl.DataFrame(records, schema=TIMING), TIMING, arguments.out)


def time_one(arguments: argparse.Namespace, seed: int, variant: str) -> list[dict[str, Any]]:
    """Time the phases of a method: compiling or loading kernels, training (epochs or a fit), ranking, and scoring."""
    other_processes = OtherProcesses()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[-1:])
    case = Case(Task(arguments.dataset, arguments.protocol), variant, seed)
    split = splits.load(case.split(arguments.results), refit=not arguments.no_refit)
    folder = case.folder(arguments.results)
    chosen = read_json(folder / "run.json")["selection"]
    method = load_method(arguments.variants[variant])
    settings = read_settings(method, chosen["settings"], str(case))
    inputs = load_needs(method.needs, vars(arguments) | {"features": features_of(arguments, variant)}, split.test)
    features = inputs["features"]
    clock = Clock()
    if issubclass(method, Method):
        warm_up(method, settings)
        clock.lap("compile")
    with workers(1) as pool:
        problem = Problem(split.final, case.seed, pool, **inputs)
        fitter = method(problem, settings)
        clock.lap(None)
        if isinstance(fitter, Method):
            best = best_epoch(folder / "history.parquet") if arguments.to_best_epoch else 0
            time_epochs(fitter, clock, arguments.epochs, best)
        model = fitter.model()
        if not isinstance(fitter, Method):
            if clock.seconds() < SHORT_FIT:
                clock.lap(None)
                model = method(problem, settings).model()
            clock.lap("fit")
        peak = peak_memory_bytes()
        image_with_most_labels = np.argmax(split.test.right.n_labels_of_row, keepdims=True).astype(np.int32)
        # Load the ranking kernel; a different one is used if each image has a single held-out label.
        rank(model, split.test.take(image_with_most_labels), features, pool, str(case))
        clock.lap(None)
        rank(model, split.test, features, pool, str(case))
        clock.lap("evaluate")
        clock.laps.append(("score", scoring_seconds(model, split.test, features)))
    keys: dict[str, Any] = {**case.keys, "threads": 1, "peak_rss_bytes": peak, "model_bytes": model_bytes(model)}
    keys |= {"machine": processor(), "others": other_processes.cores()}
    images = dict.fromkeys(("score", "evaluate"), len(split.test.images))
    return [keys | {"phase": phase, "seconds": seconds, "images": images.get(phase)} for phase, seconds in clock.laps]


def best_epoch(history: Path) -> int:
    """Return the epoch with the best validation metric, or 0 if the fit had no validation labels.

    A method with a fixed number of epochs keeps its last model, but its best epoch can be an earlier one.
    """
    return int(to_best_epoch(read_table(history, HISTORY))["epoch"].max() or 0)  # type: ignore[arg-type]


def features_of(arguments: argparse.Namespace, variant: str) -> list[Path] | None:
    """Return the files of the features that a variant uses."""
    seen = arguments.feature_sets.get(variant)
    if seen is None or arguments.features is None:
        return cast(list[Path] | None, arguments.features)
    return [path for path in arguments.features if set_of(path) in seen]


def time_epochs(method: Method, clock: "Clock", epochs: int, up_to: int) -> None:
    """Time each of the first `epochs` epochs and, if `up_to` is not 0, the first `up_to` epochs together."""
    seconds = []
    for epoch in range(max(epochs, up_to)):
        method.epoch()
        seconds.append(clock.lap("epoch" if epoch < epochs else None))
    if up_to:
        clock.laps.append(("training", sum(seconds[:up_to])))


def model_bytes(model: Model) -> int:
    """Return the number of bytes of a model's arrays, which are saved uncompressed."""
    return sum(array.nbytes for array in model.arrays().values())


class Clock:
    """A stopwatch with named laps."""

    def __init__(self) -> None:
        self.laps: list[tuple[str, float]] = []
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds since the current lap began."""
        return time.perf_counter() - self._start

    def lap(self, name: str | None) -> float:
        """End the current lap and return how many seconds it took; a lap without a name is not recorded."""
        seconds = self.seconds()
        if name:
            self.laps.append((name, seconds))
        self._start = time.perf_counter()
        return seconds
