"""Damage files many times and report the outcomes of the readers.

    python -m tests.fuzz.run [--number 10000] [--seed 0] [--keep FOLDER] [TARGET ...]

Prints a line for each reader: how often the result was the same, another result (which is right for the damaged file),
a refusal in one line, or a fault. Ends with status 1 if there was a fault. `--keep` writes the files of each fault.
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
from tests.fuzz.targets import TARGETS, FuzzError, Target, check


def fuzz(target: Target, number: int, seed: int) -> tuple[Counter[str], dict[str, tuple[int, Files]]]:
    """Return the number of times of each outcome, and one example of each different fault."""
    happened: Counter[str] = Counter()
    faults: dict[str, tuple[int, Files]] = {}
    for i in range(number):
        files = apply(target.files, random_edits(Random(f"{seed}-{i}")))
        with TemporaryDirectory() as folder:
            try:
                happened[check(target, files, Path(folder))] += 1
            except FuzzError as fault:
                happened["fault"] += 1
                kind = str(fault)[:40]
                if kind not in faults:
                    print(f"  {i}: {fault}", file=sys.stderr)
                faults.setdefault(kind, (i, files))
    return happened, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=list(TARGETS), metavar="TARGET")
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # zipfile warns about duplicate names
    print("| reader | inputs | same | other, rightly | refused | faults | seconds |\n|---|---|---|---|---|---|---|")
    status = 0
    for name in arguments.targets:
        start = time.perf_counter()
        happened, faults = fuzz(TARGETS[name], arguments.number, arguments.seed)
        numbers = [happened[what] for what in ("same", "other", "refused", "fault")]
        print(
            f"| {name} | {sum(numbers)} | {' | '.join(map(str, numbers))} | {time.perf_counter() - start:.0f} |",
            flush=True,
        )
        for number, files in faults.values():
            status = 1
            for file, data in files.items() if arguments.keep else ():
                path = arguments.keep / name / str(number) / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
    return status


if __name__ == "__main__":
    sys.exit(main())
