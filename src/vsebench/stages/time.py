"""Timing methods side by side: a fresh process each repeat, methods in turn, one core, compilation apart from epochs.

The parent starts one process after the other; a process trains with the settings that were chosen for the method.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
from tqdm import tqdm

from vsebench.core.errors import UserError, last_words
from vsebench.core.machine import peak_memory_bytes, processor
from vsebench.core.places import Run
from vsebench.core.storage import read_json, read_parquet, write_parquet
from vsebench.core.workers import workers
from vsebench.evaluation.ranking import rank_held_out, read_split
from vsebench.methods.base import Method, load_method, read_settings, warm_up

SCHEMA = {
    "dataset": pl.String,
    "protocol": pl.String,
    "method": pl.String,
    "threads": pl.Int32,
    "repeat": pl.Int32,
    "phase": pl.String,
    "seconds": pl.Float64,
    "peak_rss_bytes": pl.Int64,
    "machine": pl.String,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--methods", type=json.loads, required=True, help='JSON: {"row": "module", ...}')
    parser.add_argument("--repeats", type=int, required=True)
    parser.add_argument("--epochs", type=int, required=True, help="timed epochs a repeat")
    parser.add_argument("--out", type=Path, help="timing.parquet")
    parser.add_argument("--one", help="for internal use: time this row in this process and print JSON")


def run(arguments: argparse.Namespace) -> None:
    if arguments.one:
        print(json.dumps(time_one(arguments)))
        return
    turns = [(repeat, row) for repeat in range(1, arguments.repeats + 1) for row in arguments.methods]
    rows: list[dict[str, Any]] = []
    for repeat, row in tqdm(turns, desc=f"timing {arguments.dataset} ({arguments.protocol})", mininterval=5):
        rows += [phase | {"repeat": repeat} for phase in time_in_fresh_process(row)]
    write_parquet(pl.DataFrame(rows, schema=SCHEMA), arguments.out)


def time_in_fresh_process(row: str) -> list[dict[str, Any]]:
    """Start this very command once more for one row."""
    command = [sys.executable, "-m", "vsebench", *sys.argv[1:], "--one", row]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise UserError(f"timing {row} failed: {last_words(result)}")
    phases: list[dict[str, Any]] = json.loads(result.stdout)
    return phases


def time_one(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Time the phases of one row: compile (or load from the cache), each epoch, and ranking the test labels."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[-1:])
    run_ = Run(arguments.dataset, arguments.protocol, arguments.one, arguments.seed)
    train = read_split(run_.split(arguments.results), "train", "valid")
    test = read_parquet(run_.split(arguments.results) / "test.parquet")
    values = read_json(run_.folder(arguments.results) / "run.json")["selection"]["settings"]
    method = load_method(arguments.methods[arguments.one])
    if not issubclass(method, Method):
        raise UserError(f"{run_}: an untrained method has no training time")
    settings = read_settings(method, values, str(run_))
    clock = Clock()
    warm_up(method, settings)
    clock.lap("compile")
    with workers(1) as pool:
        model = method(train, settings, run_.seed, pool)
        clock.lap(None)
        for _ in range(arguments.epochs):
            model.epoch()
            clock.lap("epoch")
        peak = peak_memory_bytes()
        embeddings = model.scorer()
        rank_held_out(embeddings, train, test.head(1), pool, str(run_))  # loads the kernel
        clock.lap(None)
        rank_held_out(embeddings, train, test, pool, str(run_))
        clock.lap("evaluate")
    keys = {"dataset": run_.dataset, "protocol": run_.protocol, "method": run_.method, "threads": 1}
    return [
        keys | {"phase": phase, "seconds": seconds, "peak_rss_bytes": peak, "machine": processor()}
        for phase, seconds in clock.laps
    ]


class Clock:
    """A stopwatch with named laps."""

    def __init__(self) -> None:
        self.laps: list[tuple[str, float]] = []
        self._start = time.perf_counter()

    def lap(self, name: str | None) -> None:
        """End a lap; a lap without a name is not kept."""
        now = time.perf_counter()
        if name:
            self.laps.append((name, now - self._start))
        self._start = time.perf_counter()
