"""Measure how the time of an epoch grows with pairs, labels and factors.

On simulated data one size is varied at a time while the others stay at the middle one of their values. Pairs grow with
the images, at the same number of labels per image. In each repeat a new process measures every method at every size
on one core: an epoch to warm up, then the timed one. So sampling methods are measured at the start of their training.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import polars as pl
from tqdm import tqdm

from vsebench.core.configuration import DatasetConfig, check, read_config
from vsebench.core.errors import UserError
from vsebench.core.machine import processor
from vsebench.core.processes import run_in_new_process
from vsebench.core.schemas import SCALING
from vsebench.core.storage import write_table
from vsebench.core.workers import workers
from vsebench.formats.simulator import Options, read
from vsebench.methods.base import Method, load_method, read_settings
from vsebench.problem import LabelMatrix, Problem, Training
from vsebench.training import warm_up


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", type=Path, required=True, help="configuration file of a simulated data set")
    parser.add_argument("--methods", type=json.loads, required=True, help='JSON: {"row": ["module", {settings}], ...}')
    parser.add_argument("--sizes", type=json.loads, required=True, help='JSON: {"pairs": [...], "labels": [...], ...}')
    parser.add_argument("--repeats", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="scaling.parquet")


def run(arguments: argparse.Namespace) -> None:
    rows: list[dict[str, Any]] = []
    for repeat in tqdm(range(1, arguments.repeats + 1), desc="growth of an epoch's time", mininterval=5):
        rows += [row | {"repeat": repeat} for row in run_in_new_process(measure, arguments)]
    write_table(pl.DataFrame(rows, schema=SCALING), SCALING, arguments.out)


def measure(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Time an epoch of every method at every size, on one core."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    options = simulator_options(arguments.dataset)
    middle = {name: sorted(sizes)[len(sizes) // 2] for name, sizes in arguments.sizes.items()}
    rows = []
    for variable, sizes in arguments.sizes.items():
        for size in sizes:
            wanted = middle | {variable: size}
            matrix = simulate(options, wanted["pairs"], wanted["labels"])
            for row, (module, settings) in arguments.methods.items():
                seconds = time_epoch(module, settings | {"factors": wanted["factors"]}, matrix)
                shape = {"images": matrix.n_rows, "labels": matrix.n_labels, "pairs": matrix.n_pairs}
                keys = {"method": row, "variable": variable, "size": size, "factors": wanted["factors"]}
                rows.append(keys | shape | {"seconds": seconds, "machine": processor()})
    return rows


def simulator_options(path: Path) -> Options:
    """Return the options of a simulated data set at full scale."""
    config = read_config(DatasetConfig, path)
    if config.adapter != "simulator":
        raise UserError(f"{path}: adapter: {config.adapter}; growth is measured on data of the adapter simulator only")
    return check(Options, config.options, f"{path}: options")


def simulate(options: Options, pairs: int, labels: int) -> LabelMatrix:
    """Return a simulated label matrix with about `pairs` occurrences and with `labels` labels."""
    images = max(1, round(pairs * options.images / options.occurrences))
    annotations = read(Path(), options.model_copy(update={"images": images, "labels": labels, "occurrences": pairs}))
    return LabelMatrix.from_pairs(annotations.pairs, images, labels)


def time_epoch(module: str, values: dict[str, Any], matrix: LabelMatrix) -> float:
    """Return the seconds of a method's second epoch."""
    method = load_method(module)
    if not issubclass(method, Method):
        raise UserError(f"{module}: a row without epochs has no training time")
    settings = read_settings(method, values, module)
    warm_up(method, settings)
    with workers(1) as pool:
        fitter = method(Problem(Training.all_of(matrix), 1, pool), settings)
        fitter.epoch()
        start = time.perf_counter()
        fitter.epoch()
        return time.perf_counter() - start
