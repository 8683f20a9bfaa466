"""Compile kernels, which later processes then load from numba's cache on disk."""

import argparse
import importlib
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.registry import CPUDispatcher

from vsebench.core.modules import modules_in
from vsebench.core.storage import write_json
from vsebench.core.workers import workers
from vsebench.data.problem import HeldOut, LabelMatrix
from vsebench.evaluation.ranking import list_tops, rank, rank_images
from vsebench.kernels.drawing import draw_labels
from vsebench.kernels.random_numbers import new_state
from vsebench.methods.base import Method, load_method, read_settings
from vsebench.models import Embeddings, LabelWeights
from vsebench.training import tiny_matrix, warm_up


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--module", help="a method in vsebench.methods (default: compile ranking and the simulator)")
    parser.add_argument("--settings", type=json.loads, default={}, help="JSON: the method's settings")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write: seconds, number of functions")


def run(arguments: argparse.Namespace) -> None:
    start = time.perf_counter()
    if arguments.module:
        train_tiny(arguments.module, arguments.settings)
    else:
        rank_tiny()
        draw_tiny()
    seconds = round(time.perf_counter() - start, 3)
    write_json({"seconds": seconds, "functions_compiled": functions_compiled()}, arguments.out)


def functions_compiled() -> int:
    """Return the number of functions that this process has compiled."""
    modules = map(importlib.import_module, modules_in("kernels").values())
    kernels = {id(f): f for module in modules for f in vars(module).values() if isinstance(f, CPUDispatcher)}
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels.values())


def train_tiny(name: str, values: dict[str, Any]) -> None:
    """Train a method for one epoch on a tiny problem, to compile its kernels.

    A method without epochs is not trained.
    """
    method = load_method(name)
    if issubclass(method, Method):
        warm_up(method, read_settings(method, values, f"method {name}"))


def rank_tiny() -> None:
    """Rank the labels and images of tiny data, to compile the kernels that rank.

    The models are embeddings and label weights. Each model ranks labels twice: first with one test label per image,
    then with several.
    """
    ones = np.ones((6, 6), dtype=np.float32)
    with workers(1) as pool:
        labels = tiny_matrix()
        images = np.arange(labels.n_rows, dtype=np.int32)
        held_out = HeldOut(images, labels, LabelMatrix.empty(labels.n_rows, 6), np.ones(6, dtype=np.bool_))
        single = LabelMatrix.from_pairs(labels.to_pairs().unique("image", keep="first"), labels.n_rows, 6)
        for model in (Embeddings(ones, ones), LabelWeights(ones)):
            rank(model, replace(held_out, right=single), None, pool, "compilation")
            rank(model, held_out, None, pool, "compilation")
            list_tops(model, held_out, None, pool)
            rank_images(model, held_out, None, pool)


def draw_tiny() -> None:
    mixtures = np.ones((1, 1), dtype=np.float32)
    cumulative = np.array([[0.5, 1.0]])
    draw_labels(mixtures, cumulative, np.array([0, 2], dtype=np.int64), np.inf, new_state(1))
