"""Measure how the time and memory of the stages of a run grow with images, labels and pairs, on simulated data.

    .venv/bin/python -m benchmarks.scale FOLDER [--repeats 3]

One of these three sizes is varied at a time, and the other two keep their middle values. The data are simulated as in
config/datasets/sim-scale.yaml, but in smaller sizes, and are written to FOLDER. Each part runs in a process of its own,
on one core:

    prepare     the stage `prepare`
    split       the stage `split`, protocol `distinct`
    iteration   the second iteration of VSE-fs (for memory: reading the split and two iterations)
    warp_epoch  the second epoch of WARP (in the same way)
    rank        the stage `rank` with the model of VSE-fs: ranks of the held-out labels, and lists

Times are processor time, since other work on a machine changes it less than wall time. Memory is the peak minus the
memory after imports. A power of the number of images, labels or pairs is fitted to both; `vsebench.evaluation.growth`
estimates the exponents. The script prints a table, and writes results/scale.parquet.
"""

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.children import run_module
from benchmarks.data import CONFIG, configured
from vsebench import models
from vsebench.cli import main as vsebench
from vsebench.core.machine import memory_bytes, peak_memory_bytes, processor
from vsebench.core.storage import write_parquet
from vsebench.core.workers import workers
from vsebench.core.yaml_files import read_yaml
from vsebench.data import splits
from vsebench.data.problem import Problem
from vsebench.evaluation.growth import exponents
from vsebench.methods.base import Method, load_method, read_settings
from vsebench.stages import prepare, rank, split
from vsebench.training import warm_up

SIZES = {
    "images": (100_000, 200_000, 400_000),
    "labels": (2_500, 5_000, 10_000),
    "pairs": (850_000, 1_700_000, 3_400_000),
}
FACTORS, SEED = 64, 1
EPOCHS = {"iteration": "vse_fs", "warp_epoch": "warp"}
MIB = 2**20
IMPORTED = (prepare, split, rank)  # the stages are imported here, so that their imports are not measured


@dataclass(frozen=True)
class Folders:
    """The folders of a simulated data set and its split, and the file of a model."""

    top: Path

    @property
    def data(self) -> Path:
        return self.top / "data/processed/sim-scale"

    @property
    def split(self) -> Path:
        return self.top / "results/sim-scale/distinct/seed1/split"

    @property
    def model(self) -> Path:
        return self.top / "results/sim-scale/distinct/seed1/vse_fs/model.npz"


def definition(sizes: dict[str, int]) -> str:
    """Return the definition of the simulated data set with the given sizes, for the stage `prepare`."""
    values = read_yaml(CONFIG / "datasets" / "sim-scale.yaml")
    options = values["options"] | {"occurrences" if key == "pairs" else key: size for key, size in sizes.items()}
    return json.dumps({"adapter": values["adapter"], "options": options})


def prepare_data(folders: Folders, sizes: dict[str, int]) -> float:
    folders.data.mkdir(parents=True)
    (folders.top / "raw").mkdir()
    return stage(
        "prepare", "--name", "sim-scale", "--definition", definition(sizes), "--raw", folders.top / "raw", "--out",
        folders.data,
    )  # fmt: skip


def split_data(folders: Folders, sizes: dict[str, int]) -> float:
    return stage(
        "split", "--processed", folders.data, "--protocol", "distinct", "--seed", SEED, "--out", folders.split
    )  # fmt: skip


def rank_labels(folders: Folders, sizes: dict[str, int]) -> float:
    ranks, lists = (folders.model.with_name(f"{name}.parquet") for name in ("ranks", "lists"))
    return stage("rank", "--split", folders.split, "--model", folders.model, "--ranks", ranks, "--lists", lists)


def stage(name: str, *arguments: object) -> float:
    """Run a stage; return its seconds of processor time."""
    start = time.process_time()
    if vsebench(["stage", name, *map(str, arguments)]):
        sys.exit(1)
    return time.process_time() - start


def epoch_of(part: str) -> Callable[[Folders, dict[str, int]], float]:
    """Return a function that trains a method for two epochs, and returns the processor time of the second."""

    def measure(folders: Folders, sizes: dict[str, int]) -> float:
        config = configured(EPOCHS[part])
        method = load_method(config.method)
        assert issubclass(method, Method)
        settings = read_settings(method, config.settings | {"factors": FACTORS}, part)
        warm_up(method, settings)
        with workers(1) as pool:
            training = splits.load(folders.split, with_test=False).final
            fitter = method(Problem(training, SEED, pool), settings)
            fitter.epoch()
            start = time.process_time()
            fitter.epoch()
            seconds = time.process_time() - start
        if part == "iteration":
            models.save(fitter.model(), folders.model)
        return seconds

    return measure


PARTS: dict[str, Callable[[Folders, dict[str, int]], float]] = {
    "prepare": prepare_data,
    "split": split_data,
    "iteration": epoch_of("iteration"),
    "warp_epoch": epoch_of("warp_epoch"),
    "rank": rank_labels,
}


def child(part: str, folder: Path, sizes: dict[str, int]) -> dict[str, float]:
    """Measure a part in this process."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    before = memory_bytes() or 0
    seconds = PARTS[part](Folders(folder), sizes)
    return {"seconds": seconds, "bytes": peak_memory_bytes() - before}


def settings_of_sizes() -> list[tuple[str, dict[str, int]]]:
    """Return, for each measurement, the name of the varied size and the values of all sizes.

    The combination of all middle values occurs once for each varied size.
    """
    middle = {name: sizes[1] for name, sizes in SIZES.items()}
    return [(variable, middle | {variable: size}) for variable, sizes in SIZES.items() for size in sizes]


def measure_all(folder: Path, repeats: int) -> pl.DataFrame:
    """Measure all parts at all sizes; the middle sizes are measured only once in each repeat."""
    rows: list[dict[str, Any]] = []
    for repeat in range(1, repeats + 1):
        known: dict[str, dict[str, Any]] = {}
        for variable, sizes in settings_of_sizes():
            key = json.dumps(sizes)
            if key not in known:
                shutil.rmtree(folder, ignore_errors=True)
                known[key] = {
                    part: run_module("benchmarks.scale", str(folder), "--part", part, "--sizes", key).answer
                    for part in PARTS
                }
            for part, found in known[key].items():
                keys = {"method": part, "variable": variable, "size": sizes[variable], "repeat": repeat}
                rows.append(keys | sizes | found | {"machine": processor()})
                print(*rows[-1].values(), sep="\t", file=sys.stderr, flush=True)
    return pl.DataFrame(rows)


def table_of(found: pl.DataFrame) -> str:
    """Return a Markdown table of the median times, the median memory, and the exponents of their growth.

    Each exponent has a confidence interval.
    """
    by_size = found.group_by("method", "variable", "size", maintain_order=True).agg(
        pl.col("seconds").median(), pl.col("bytes").median()
    )
    in_bytes = found.with_columns(seconds=pl.col("bytes").cast(pl.Float64))
    growth = (exponents(found), exponents(in_bytes))
    lines = ["| part | size | seconds | exponent | MiB | exponent |", "|---|---|---|---|---|---|"]
    for part in PARTS:
        for variable in SIZES:
            own = by_size.filter(method=part, variable=variable)
            seconds = ", ".join(f"{value:.3g}" for value in own["seconds"])
            memory = ", ".join(f"{value / MIB:,.0f}" for value in own["bytes"])
            grown = [interval(exponent.filter(method=part, variable=variable)) for exponent in growth]
            lines.append(f"| `{part}` | {variable} | {seconds} | {grown[0]} | {memory} | {grown[1]} |")
    return "\n".join(lines)


def interval(row: pl.DataFrame) -> str:
    """Return, as text, the fitted exponent in a row and the confidence interval of the exponent."""
    exponent, low, high = row.select("exponent", "ci_low", "ci_high").row(0)
    return f"{exponent:.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folder",
        type=Path,
        help="a new or empty folder for the simulated data, which are deleted before each size is measured",
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        print(json.dumps(child(arguments.part, arguments.folder, arguments.sizes)))
        return
    folder = arguments.folder.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        parser.error(f"{folder}: exists and is not an empty folder; name another one")
    found = measure_all(folder, arguments.repeats)
    write_parquet(found, Path("results/scale.parquet"))
    print(table_of(found))


if __name__ == "__main__":
    main()
