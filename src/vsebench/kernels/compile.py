"""Compiling every kernel once, so that later processes find it in numba's cache on disk."""

import argparse
import importlib
import json
import pkgutil
import time
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.registry import CPUDispatcher

import vsebench.kernels
from vsebench.evaluation.ranks import rank_held_out
from vsebench.files import write_json
from vsebench.kernels.drawing import draw_labels
from vsebench.kernels.random_numbers import new_state
from vsebench.methods.base import Embeddings, LabelWeights, Method, load_method, read_settings, tiny_matrix, warm_up
from vsebench.parallel import workers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--method", help="module in vsebench.methods; none: ranking and the simulator")
    parser.add_argument("--settings", type=json.loads, default={}, help="JSON")
    parser.add_argument("--out", type=Path, required=True, help="JSON: seconds, and functions that were not cached yet")


def run(arguments: argparse.Namespace) -> None:
    start = time.perf_counter()
    if arguments.method:
        train_tiny(arguments.method, arguments.settings)
    else:
        rank_tiny()
        draw_tiny()
    seconds = round(time.perf_counter() - start, 3)
    write_json({"seconds": seconds, "functions_compiled": functions_compiled()}, arguments.out)


def functions_compiled() -> int:
    """Count the kernels that this process had to compile."""
    modules = [
        importlib.import_module(f"vsebench.kernels.{m.name}") for m in pkgutil.iter_modules(vsebench.kernels.__path__)
    ]
    kernels = {id(f): f for module in modules for f in vars(module).values() if isinstance(f, CPUDispatcher)}
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels.values())


def train_tiny(name: str, values: dict[str, Any]) -> None:
    """Train a method for one epoch on the tiny matrix."""
    method = load_method(name)
    if issubclass(method, Method):
        warm_up(method, read_settings(method, values, f"method {name}"))


def rank_tiny() -> None:
    matrix = tiny_matrix()
    ones = np.ones((6, 6), dtype=np.float32)
    with workers(1) as pool:
        for model in (Embeddings(ones, ones), LabelWeights(ones)):
            rank_held_out(model, matrix, matrix.to_pairs(), pool, "compilation")


def draw_tiny() -> None:
    mixtures = np.ones((1, 1), dtype=np.float32)
    cumulative = np.array([[0.5, 1.0]])
    draw_labels(mixtures, cumulative, np.array([0, 2], dtype=np.int64), np.inf, new_state(1))
