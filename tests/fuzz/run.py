"""Damage files many times, and count the outcomes of the readers.

An outcome is the same result, another result (which is right for the damaged file), a refusal in one line, or a fault.
"""

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.fuzz.mutate import Files, apply, random_edits
from tests.fuzz.targets import GROUPS, TARGETS, FuzzError, check
from tests.reliability.trial import Trial

OUTCOMES = ("same", "other", "refused", "fault")
HEADINGS = ["readers", "number", "damaged files", "same", "other", "refused", "faults", "seconds"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--number", type=int, default=10_000, help="of files for each reader (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the damages (default: %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to write the files of each fault")
    listed = "; ".join(TARGETS)
    parser.add_argument("--only", action="append", choices=TARGETS, metavar="READER", help=f"one of: {listed}")


def run(arguments: argparse.Namespace) -> Trial:
    rows: list[list[object]] = []
    failures: list[str] = []
    unnoticed = 0
    chosen = arguments.only or list(TARGETS)
    context = get_context("forkserver")  # a process that is forked from one with threads of polars can wait forever
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=context) as pool:
        tried = {name: pool.submit(fuzz, name, arguments.number, arguments.seed) for name in chosen}
        for text, group in GROUPS.items():
            happened, seconds, names = Counter[str](), 0.0, [name for name in group if name in tried]
            for name in names:
                found, faults, took = tried[name].result()
                print(f"{name}: {dict(found)}", flush=True)
                happened += found
                seconds += took
                unnoticed += found["other"] if TARGETS[name].any_result else 0
                failures += [f"{name}: {fault}" for fault in faults]
                if arguments.keep:
                    keep(faults, arguments.keep / name)
            if names:
                counts = [happened[outcome] for outcome in OUTCOMES]
                rows.append([text, len(names), sum(counts), *counts, round(seconds)])
    summary = f"{arguments.number:,} damaged files for each of {len(chosen)} readers; {unnoticed:,} "
    summary += "files of formats without a checksum and without a second reader were read as other content"
    return Trial(summary, HEADINGS, rows, failures)


def keep(faults: dict[str, tuple[int, Files]], folder: Path) -> None:
    """Write the files of each fault."""
    for number, files in faults.values():
        for file, data in files.items():
            path = folder / str(number) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def fuzz(name: str, number: int, seed: int) -> tuple[Counter[str], dict[str, tuple[int, Files]], float]:
    """Return how often a reader had each outcome, one example of each different fault, and the seconds taken."""
    target, start = TARGETS[name], time.perf_counter()
    happened: Counter[str] = Counter()
    faults: dict[str, tuple[int, Files]] = {}
    for i in range(number):
        files = apply(target.files, random_edits(Random(f"{seed}-{i}")))
        # zipfile warns about duplicate names.
        with TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
            try:
                happened[check(target, files, Path(folder))] += 1
            except FuzzError as fault:
                happened["fault"] += 1
                kind = str(fault)[:40]
                if kind not in faults:
                    print(f"  {name}, {i}: {fault}", file=sys.stderr)
                faults.setdefault(kind, (i, files))
    return happened, faults, time.perf_counter() - start
