"""Kill runs at random moments, run them again, and compare all files with those of an undisturbed run.

    python -m tests.workflow.kills 20 [seed]

Each run is killed up to five times: Snakemake with all its jobs, Snakemake alone, both once more, and one job alone.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import psutil

from tests.workflow.project import ROOT, Project

VICTIMS = ("all", "snakemake", "all", "snakemake", "job")
FOLDERS = ("data", "results", "figures")
MEASURED = ("seconds", "peak_rss_bytes")  # columns
# These files contain measured seconds throughout, so only their existence is checked.
SECONDS = ("results/machine.json", "results/kernels/*", "results/report.html", "training-time.*", "convergence-*")


def results(folder: Path) -> dict[str, object]:
    """Read all files that a run makes, except for logs and measured seconds."""
    paths = [path for name in FOLDERS for path in sorted((folder / name).rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): content(path) for path in paths if path.suffix != ".log"}


def content(path: Path) -> object:
    """Return the content of a file without measured seconds."""
    if any(path.match(pattern) for pattern in SECONDS):
        return "measured"
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        if set(MEASURED) & set(frame.columns):
            return frame.drop(MEASURED, strict=False).write_csv()
    return path.read_bytes()


def kill(project: Project, victim: str, seconds: float, choose: random.Random) -> dict[str, Any]:
    """Start a run, kill it after some seconds and unlock the folder; return a record of its state."""
    process = project.start()
    time.sleep(seconds)
    record: dict[str, Any] = {
        "victim": victim,
        "seconds": round(seconds, 1),
        "files": sum(1 for _ in project.folder.glob("results/**/*.*")),
        "jobs": len(project.jobs()),
    }
    if victim == "all":
        os.killpg(process.pid, signal.SIGKILL)
    elif victim == "snakemake":
        process.kill()
    else:
        kill_one(process, project, choose)
    record["status"] = process.wait()
    record["jobs_left"] = len(project.jobs())
    assert project.snakemake("--unlock").status == 0
    return record


def kill_one(process: "subprocess.Popen[bytes]", project: Project, choose: random.Random) -> None:
    """Kill one job, as the system does when memory runs out."""
    while process.poll() is None:
        with suppress(IndexError, psutil.NoSuchProcess):  # none is running, or it just ended
            choose.choice(project.jobs()).kill()
            return


def differences(project: Project, expected: dict[str, object]) -> list[str]:
    """Return the names of files that are missing, superfluous or different."""
    actual = results(project.folder)
    return sorted(name for name in expected.keys() | actual.keys() if expected.get(name) != actual.get(name))


def rounds(number: int, seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Kill runs `number` times; yield the outcome of each run after it was resumed and left alone."""
    choose = random.Random(seed)
    source = Project.copy(ROOT, folder / "source")
    source.configure()
    assert source.snakemake("results/machine.json").status == 0  # compiles
    whole = Project.copy(source.folder, folder / "whole")
    start = time.monotonic()
    assert whole.snakemake().status == 0
    length = time.monotonic() - start
    expected = results(whole.folder)
    print(f"undisturbed: {length:.1f} s, {len(expected)} files", flush=True)
    killed = 0
    while killed < number:
        project = Project.copy(source.folder, folder / f"run{killed}")
        for victim in VICTIMS[: number - killed]:
            record = kill(project, victim, choose.uniform(0, length / 2), choose)
            print(json.dumps(record), flush=True)
            if record["status"] == 0:
                break  # it was done before
            killed += 1
        outcome = project.snakemake()
        assert outcome.status == 0, outcome.text[-5000:]
        finished = "Nothing to be done" in project.snakemake("--dry-run").text
        yield {"run_again": len(outcome.jobs), "finished": finished, "differences": differences(project, expected)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", type=int, nargs="?", default=20)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    number, seed = vars(parser.parse_args()).values()
    with tempfile.TemporaryDirectory() as folder:
        ends = []
        for end in rounds(number, seed, Path(folder)):
            print(json.dumps(end), flush=True)
            ends.append(end["finished"] and not end["differences"])
    print(f"{number} kills in {len(ends)} runs, {sum(ends)} of them with the same files in the end")
    return not all(ends)


if __name__ == "__main__":
    raise SystemExit(main())
