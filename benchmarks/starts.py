"""Measure the seconds of processes that compile all kernels, and of processes that load compiled kernels."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchmarks.children import run_module
from benchmarks.data import CONFIG, configured
from benchmarks.plan import Plan
from vsebench.core.machine import processor
from vsebench.methods.base import load_method, with_factors

SCHEMA = {
    "start": pl.String,  # cold: all kernels without a cache; warm: one method from the cache
    "repeat": pl.Int32,
    "seconds": pl.Float64,
    "functions_compiled": pl.Int32,
    "machine": pl.String,
}
PEERS = ("implicit_als", "irspack_ials", "lightfm_features", "lightfm_warp")
WARM = "vse_fs"


def measure(plan: Plan) -> pl.DataFrame:
    """Measure how long new processes take on one core until their kernels are ready.

    The first kind of process compiles all kernels. The second kind loads the kernels of one method from disk.
    """
    variants = sorted(path.stem for path in (CONFIG / "methods").glob("*.yaml"))
    configs = {variant: configured(variant) for variant in variants if variant not in PEERS}
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
