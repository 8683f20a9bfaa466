"""Kill runs at random moments, run them again, and compare all files with those of an undisturbed run.

Each run is killed up to six times: Snakemake with all its jobs, Snakemake alone, both once more, one job alone, and the
job that writes the report.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import psutil

from tests.reliability.trial import Trial
from tests.workflow.project import ROOT, Project

VICTIMS = {
    "all": "Snakemake and its jobs",
    "snakemake": "Snakemake alone",
    "job": "one job",
    "report": "the job that writes the report",
}
ORDER = ("all", "snakemake", "all", "snakemake", "job", "report")
STAGE = re.compile(r"-m vsebench stage (\w+)")
FOLDERS = ("data", "results", "figures")
MEASURED = ("seconds", "peak_rss_bytes", "others")  # columns
# These files contain measured seconds throughout, so only their existence is checked.
SECONDS = ("results/machine.json", "results/kernels/*", "results/report.html")
SECONDS += ("training-time.*", "convergence-*", "accuracy-against-time.*")


@dataclass(frozen=True)
class Kill:
    """What was killed, after how many seconds, how many files were there, and how Snakemake ended.

    `running` has the stages of the jobs that were running.
    """

    victim: str
    seconds: float
    files: int
    running: Collection[str]
    status: int


@dataclass(frozen=True)
class Round:
    """The kills of a run, and how it was after it had been repeated without a kill."""

    kills: Sequence[Kill]
    finished: bool  # it succeeded, and a further run would have nothing to do
    different: Sequence[str]  # names of files that are different or missing
    left_over: Sequence[str]  # names of files that an undisturbed run does not make

    @property
    def failures(self) -> list[str]:
        names = [f"different: {name}" for name in self.different] + [f"left over: {name}" for name in self.left_over]
        return names if self.finished else ["the run did not finish", *names]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--number", type=int, default=40, help="of kills (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments (default: %(default)s)")


def run(arguments: argparse.Namespace) -> Trial:
    with tempfile.TemporaryDirectory() as folder:
        source = Project.copy(ROOT, Path(folder) / "source")
        source.configure()
        finish(source, "results/machine.json")  # compiles
        whole = Project.copy(source.folder, Path(folder) / "whole")
        start = time.monotonic()
        finish(whole)
        length = time.monotonic() - start
        expected = results(whole.folder)
        print(f"undisturbed: {length:.0f} s, {len(expected)} files", flush=True)
        done = []
        for each in rounds(source, arguments.number, length, random.Random(arguments.seed), expected):
            print(each, flush=True)
            done.append(each)
    return summary(done, len(expected))


def finish(project: Project, *targets: str) -> None:
    outcome = project.snakemake(*targets)
    assert outcome.status == 0, outcome.text[-5000:]


def rounds(
    source: Project, number: int, length: float, choose: random.Random, expected: dict[str, object]
) -> Iterator[Round]:
    """Kill copies of a project that would run for `length` seconds, `number` times altogether."""
    killed = 0
    while killed < number:
        project = Project.copy(source.folder, source.folder.parent / f"run{killed}")
        kills: list[Kill] = []
        for victim in ORDER[: number - killed]:
            last = kill(project, victim, choose.uniform(0, length / 2), choose)
            if last.status == 0:
                break  # it was done before
            kills.append(last)
        killed += len(kills)
        yield after(project, kills, expected)


def kill(project: Project, victim: str, seconds: float, choose: random.Random) -> Kill:
    """Start a run, kill it after some seconds, or while it writes the report, and unlock the folder."""
    process, start = project.start(), time.monotonic()
    if victim == "report":
        while process.poll() is None and "report" not in stages_running(project.folder):
            time.sleep(0.01)
        seconds = time.monotonic() - start
    else:
        time.sleep(seconds)
    files, running = len(files_of(project.folder)), stages_running(project.folder)
    if victim == "all":
        os.killpg(process.pid, signal.SIGKILL)
    elif victim == "snakemake":
        process.kill()
    else:
        kill_one(process, project, choose)
    status = process.wait()
    assert project.snakemake("--unlock").status == 0
    return Kill(victim, round(seconds, 1), files, running, status)


def kill_one(process: "subprocess.Popen[bytes]", project: Project, choose: random.Random) -> None:
    """Kill one job, as the system does when memory runs out."""
    while process.poll() is None:
        with suppress(IndexError, psutil.NoSuchProcess):  # none is running, or it just ended
            choose.choice(project.jobs()).kill()
            return


def stages_running(folder: Path) -> set[str]:
    """Return the stages of the jobs that run in a folder, from the command lines of their shells."""
    found = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it may end meanwhile, or belong to another user
            if process.cwd() == str(folder.resolve()):
                found.update(STAGE.findall(" ".join(process.cmdline())))
    return found


def after(project: Project, kills: Sequence[Kill], expected: dict[str, object]) -> Round:
    """Repeat a run, and compare its files."""
    outcome = project.snakemake()
    finished = outcome.status == 0 and "Nothing to be done" in project.snakemake("--dry-run").text
    actual = results(project.folder)
    different = [name for name in expected if expected[name] != actual.get(name)]
    return Round(kills, finished, different, sorted(actual.keys() - expected.keys()))


def files_of(folder: Path) -> list[Path]:
    """Return the files that a run makes, except for logs."""
    paths = [path for name in FOLDERS for path in sorted((folder / name).rglob("*"))]
    return [path for path in paths if path.is_file() and path.suffix != ".log"]


def results(folder: Path) -> dict[str, object]:
    """Read the files that a run makes, without measured seconds."""
    return {str(path.relative_to(folder)): content(path) for path in files_of(folder)}


def content(path: Path) -> object:
    """Return the content of a file without measured seconds."""
    if any(path.match(pattern) for pattern in SECONDS):
        return "measured"
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        if set(MEASURED) & set(frame.columns):
            return frame.drop(MEASURED, strict=False).write_csv()
    return path.read_bytes()


def summary(done: Sequence[Round], n_files: int) -> Trial:
    """Return a table with a line for each kind of kill."""
    number = sum(len(each.kills) for each in done)
    headings = ["what was killed", "kills", "in runs", "files at that time", "stages that were running (kills)"]
    failures = [f"run {i}: {failure}" for i, each in enumerate(done, start=1) for failure in each.failures]
    return Trial(
        f"{number} kills in {len(done)} runs; an undisturbed run makes {n_files} files",
        [*headings, "runs that ended with the same files", "different or missing files", "left over files"],
        [row(victim, done) for victim in VICTIMS],
        failures,
    )


def row(victim: str, done: Sequence[Round]) -> list[object]:
    """Return the cells of a kind of kill."""
    runs = [each for each in done if victim in {kill.victim for kill in each.kills}]
    kills = [kill for each in runs for kill in each.kills if kill.victim == victim]
    files = [kill.files for kill in kills]
    between = f"{min(files)} to {max(files)}" if files else ""
    stages = Counter(stage for kill in kills for stage in kill.running)
    running = ", ".join(f"{stage} ({number})" for stage, number in sorted(stages.items()))
    same = sum(not each.failures for each in runs)
    wrong = [sum(len(each.different) for each in runs), sum(len(each.left_over) for each in runs)]
    return [VICTIMS[victim], len(files), len(runs), between, running, same, *wrong]
