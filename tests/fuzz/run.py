"""Damage files many times, and count the outcomes of the readers.

An outcome is the same result, another result (which is right for the damaged file), a refusal in one line, or a fault.
"""

import argparse
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.fuzz.mutate import Files, apply, random_edits
from tests.fuzz.targets import GROUPS, TARGETS, FuzzError, Target, check
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
    for text, group in GROUPS.items():
        start = time.perf_counter()
        happened = Counter[str]()
        chosen = [name for name in group if not arguments.only or name in arguments.only]
        for name in chosen:
            found, faults = fuzz(TARGETS[name], arguments.number, arguments.seed)
            print(f"{name}: {dict(found)}", flush=True)
            happened += found
            unnoticed += found["other"] if TARGETS[name].any_result else 0
            failures += [f"{name}: {fault}" for fault in faults]
            if arguments.keep:
                keep(faults, arguments.keep / name)
        if chosen:
            counts = [happened[outcome] for outcome in OUTCOMES]
            rows.append([text, len(chosen), sum(counts), *counts, round(time.perf_counter() - start)])
    n_readers = len(arguments.only or TARGETS)
    summary = f"{arguments.number:,} damaged files for each of {n_readers} readers; {unnoticed:,} "
    return Trial(f"{summary}of those without a checksum were read as other content", HEADINGS, rows, failures)


def keep(faults: dict[str, tuple[int, Files]], folder: Path) -> None:
    """Write the files of each fault."""
    for number, files in faults.values():
        for file, data in files.items():
            path = folder / str(number) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def fuzz(target: Target, number: int, seed: int) -> tuple[Counter[str], dict[str, tuple[int, Files]]]:
    """Return the number of times of each outcome, and one example of each different fault."""
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
                    print(f"  {i}: {fault}", file=sys.stderr)
                faults.setdefault(kind, (i, files))
    return happened, faults
