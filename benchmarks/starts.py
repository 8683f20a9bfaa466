"""Measure the seconds of a process that compiles every kernel, and of a process that loads compiled kernels."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchmarks.children import run_module
from benchmarks.data import CONFIG
from benchmarks.plan import Plan
from vsebench.config.method import read_method_config
from vsebench.core.machine import processor
from vsebench.methods.base import load_method, with_factors

SCHEMA = {
    "start": pl.String,  # cold: every kernel, no cache; warm: one method, all in the cache
    "repeat": pl.Int32,
    "seconds": pl.Float64,
    "functions_compiled": pl.Int32,
    "machine": pl.String,
}
PEERS = ("implicit_als", "lightfm_features", "lightfm_warp")
WARM = "vse_fs"


def measure(plan: Plan) -> pl.DataFrame:
    """Start the plan's number of processes of each kind, on one core."""
    paths = sorted((CONFIG / "methods").glob("*.yaml"))
    configs = {path.stem: read_method_config(path) for path in paths if path.stem not in PEERS}
    everything = {
        variant: [config.method, with_factors(load_method(config.method), config.settings, plan.factors)]
        for variant, config in configs.items()
    }
    rows = []
    for repeat in range(1, plan.starts + 1):
        with TemporaryDirectory() as folder:
            for start, methods in (("cold", everything), ("warm", {WARM: everything[WARM]})):
                child = run_module("benchmarks.compile_all", json.dumps(methods), cache=Path(folder))
                rows.append((start, repeat, child.seconds, child.answer, processor()))
                print(f"{start} start: {child.seconds:.2f} s, {child.answer} functions compiled", flush=True)
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
