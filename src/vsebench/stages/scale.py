"""Measure how the time of an epoch, or the time to score an image, grows with the sizes of simulated data.

One size is varied at a time, while the others keep their middle values. In each repeat, a new process measures every
method at every size on one core. What is timed depends on the adapter of the data set:

- `simulator` (labels only): the time of an epoch, for several numbers of pairs, labels and factors. The number of
  images grows with the number of pairs, so the number of labels per image is constant. The second epoch is timed;
  methods that sample negatives are therefore measured at the start of their training.
- `simulated_tree` (with features): the time to score all labels for an image, for several numbers of training images
  and of terms per image. The same images are scored for every number of training images. Methods are trained for one
  epoch.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tqdm import tqdm

from vsebench.config.dataset import DatasetConfig
from vsebench.config.run import GROWTH
from vsebench.core.errors import UserError
from vsebench.core.machine import processor
from vsebench.core.processes import run_in_new_process
from vsebench.core.schemas import SCALING
from vsebench.core.storage import write_table
from vsebench.core.workers import Workers, workers
from vsebench.core.yaml_files import check, read_config
from vsebench.data.problem import HeldOut, LabelMatrix, Problem, Training
from vsebench.evaluation.scoring_time import scoring_seconds
from vsebench.formats.adapters import load_adapter
from vsebench.formats.simulators import simulator
from vsebench.methods.base import Fitter, Method, load_method, read_settings
from vsebench.training import warm_up

SCORED_IMAGES = 500


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", type=Path, required=True, help="configuration file of a simulated data set")
    parser.add_argument(
        "--options", type=json.loads, default={}, help="JSON: options that replace those in the file of --dataset"
    )
    parser.add_argument("--variants", type=json.loads, required=True, help='JSON: {"variant": [module, settings], ...}')
    parser.add_argument("--sizes", type=json.loads, required=True, help="JSON: a list of values for each size")
    parser.add_argument("--repeats", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="scaling.parquet to write")


def run(arguments: argparse.Namespace) -> None:
    simulator_options(arguments.dataset, arguments.options)  # to report mistakes before a process starts
    records: list[dict[str, Any]] = []
    for repeat in tqdm(range(1, arguments.repeats + 1), desc="growth of times", mininterval=5):
        records += [record | {"repeat": repeat} for record in run_in_new_process(measure, arguments)]
    write_table(pl.DataFrame(records, schema=SCALING), SCALING, arguments.out)


def measure(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Time every method at every size, on one core."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    options = simulator_options(arguments.dataset, arguments.options)
    timed = time_epochs if isinstance(options, simulator.Options) else time_scoring
    middle = {name: sorted(sizes)[len(sizes) // 2] for name, sizes in arguments.sizes.items()}
    records = []
    with workers(1) as pool:
        for variable, sizes in arguments.sizes.items():
            for size in sizes:
                for record in timed(options, middle | {variable: size}, arguments.variants, pool):
                    keys = {"variable": variable, "size": record[variable], "machine": processor()}
                    records.append(record | keys)
    return records


def simulator_options(path: Path, replaced: dict[str, Any]) -> Any:
    """Return the options in the file of a simulated data set, after replacing those that `replaced` contains."""
    config = read_config(DatasetConfig, path)
    if config.adapter not in GROWTH:
        known = " and ".join(GROWTH)
        raise UserError(f"{path}: adapter: growth can be measured only with the adapters {known}, not {config.adapter}")
    return check(load_adapter(config.adapter, str(path)).Options, config.options | replaced, f"{path}: options")


def time_epochs(
    options: simulator.Options, sizes: dict[str, int], variants: dict[str, Any], pool: Workers
) -> Iterator[dict[str, Any]]:
    """Time the second epoch of each method for the numbers of pairs, labels and factors in `sizes`."""
    matrix = simulate(options, sizes["pairs"], sizes["labels"])
    shape = {"images": matrix.n_rows, "labels": matrix.n_labels, "pairs": matrix.n_pairs, "factors": sizes["factors"]}
    for variant, (module, settings) in variants.items():
        fitter = fitted(module, settings | {"factors": sizes["factors"]}, Problem(Training.all_of(matrix), 1, pool))
        if not isinstance(fitter, Method):
            raise UserError(f"{module}: this method has no epochs to time; remove it from scaling.methods")
        start = time.perf_counter()
        fitter.epoch()
        yield shape | {"method": variant, "phase": "epoch", "seconds": time.perf_counter() - start}


def simulate(options: simulator.Options, pairs: int, labels: int) -> LabelMatrix:
    """Return a simulated label matrix with about `pairs` occurrences of `labels` labels."""
    images = max(1, round(pairs * options.images / options.occurrences))
    sizes = {"images": images, "labels": labels, "occurrences": pairs, "scale": 1.0}
    annotations = simulator.read(Path(), options.model_copy(update=sizes))
    return LabelMatrix.from_pairs(annotations.pairs, images, labels)


def time_scoring(
    options: Any, sizes: dict[str, int], variants: dict[str, Any], pool: Workers
) -> Iterator[dict[str, Any]]:
    """Measure how long each method takes to score an image.

    `sizes` contains the number of training images and the number of terms per image.
    """
    from vsebench.formats.simulators import simulated_tree  # imported here because it loads SciPy

    images = SCORED_IMAGES + sizes["images"]
    options_of_size = {"images": images, "length": float(sizes["terms"]), "scale": 1.0}
    drawn = simulated_tree.read(Path(), options.model_copy(update=options_of_size))
    matrix, numbers = LabelMatrix.from_pairs(drawn.pairs, images, options.labels), np.arange(images, dtype=np.int32)
    every_label = np.ones(options.labels, dtype=np.bool_)
    scored, learnt = np.split(numbers, [SCORED_IMAGES])
    known = LabelMatrix.empty(SCORED_IMAGES, options.labels)
    held_out = HeldOut(scored, matrix.rows(scored), known, every_label)
    of_learnt = LabelMatrix.from_pairs(drawn.pairs.filter(pl.col("image") >= SCORED_IMAGES), images, options.labels)
    problem = Problem(Training(of_learnt, learnt, every_label), 1, pool, drawn.features)
    terms = round(drawn.features.values[scored].nnz / SCORED_IMAGES)  # type: ignore[union-attr]
    shape = {"images": len(learnt), "labels": options.labels, "pairs": len(learnt), "terms": terms}
    for variant, (module, settings) in variants.items():
        seconds = scoring_seconds(fitted(module, settings, problem).model(), held_out, drawn.features) / SCORED_IMAGES
        yield shape | {"method": variant, "phase": "score", "seconds": seconds, "factors": settings.get("factors")}


def fitted(module: str, values: dict[str, Any], problem: Problem) -> Fitter:
    """Return a fitted method; a method with epochs is trained for one epoch."""
    method = load_method(module)
    settings = read_settings(method, values, module)
    if issubclass(method, Method):
        warm_up(method, settings)
    fitter = method(problem, settings)
    if isinstance(fitter, Method):
        fitter.epoch()
    return fitter
