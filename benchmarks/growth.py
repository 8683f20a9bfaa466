"""Measure, with the stage `scale` on one core, how the time of an epoch grows with factors, labels and pairs."""

import json
from pathlib import Path

import polars as pl

from benchmarks.children import run_module
from benchmarks.data import CONFIG, configured
from benchmarks.plan import Plan
from vsebench.core.storage import read_parquet

METHODS = ("vse_fs", "opt_auc", "warp", "vse_ens", "implicit_als", "lightfm_warp")


def measure(plan: Plan, out: Path) -> pl.DataFrame:
    """Measure METHODS, and write and return the results.

    The results are a table with the columns `schemas.SCALING`. WARP makes at most 10 trials, like LightFM.
    """
    configs = {variant: configured(variant) for variant in METHODS}
    own = {"warp": {"trials": 10}}
    methods = {variant: [config.method, config.settings | own.get(variant, {})] for variant, config in configs.items()}
    run_module(
        "vsebench", "stage", "scale", "--dataset", str(CONFIG / "datasets" / "sim-nuswide.yaml"), "--variants",
        json.dumps(methods), "--sizes", json.dumps(plan.growth), "--repeats", str(plan.growth_repeats), "--out",
        str(out.resolve()),
    )  # fmt: skip
    return read_parquet(out)
