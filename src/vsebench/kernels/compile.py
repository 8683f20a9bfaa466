"""Compiling every kernel once, so that later processes find it in numba's cache on disk."""

import argparse
import importlib
import json
import pkgutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.registry import CPUDispatcher

import vsebench.kernels
from vsebench.evaluation.ranks import rank_held_out
from vsebench.files import write_json
from vsebench.kernels.drawing import draw_labels
from vsebench.kernels.random import new_state
from vsebench.machine import describe
from vsebench.methods.base import Embeddings, Method, load_method, read_settings, tiny_matrix, warm_up
from vsebench.parallel import workers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--methods", type=json.loads, required=True, help='JSON: {"vse_fs": settings, ...}')
    parser.add_argument("--out", type=Path, required=True, help="machine.json: machine, versions, seconds by kernel")


def run(arguments: argparse.Namespace) -> None:
    write_json(describe() | {"kernels": compile_all(arguments.methods)}, arguments.out)


def compile_all(methods: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Call each kernel on a tiny matrix; return the seconds it took and how many functions were not in the cache."""
    tasks: dict[str, Callable[[], object]] = {"ranking": rank_tiny, "simulator": draw_tiny}
    tasks |= {name: lambda name=name: train_tiny(name, methods[name]) for name in methods}  # type: ignore[misc]
    seconds = {}
    for name, task in tasks.items():
        start = time.perf_counter()
        task()
        seconds[name] = round(time.perf_counter() - start, 3)
    return {"seconds": seconds, "functions_compiled": functions_compiled()}


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
    model = Embeddings(np.ones((4, 2), dtype=np.float32), np.ones((6, 2), dtype=np.float32))
    with workers(1) as pool:
        rank_held_out(model, matrix, matrix.to_pairs(), pool, "compilation")


def draw_tiny() -> None:
    mixtures = np.ones((1, 1), dtype=np.float32)
    cumulative = np.array([[0.5, 1.0]])
    draw_labels(mixtures, cumulative, np.array([0, 2], dtype=np.int64), np.inf, new_state(1))
