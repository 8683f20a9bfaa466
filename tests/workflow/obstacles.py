"""Run a project where space on the disk, the permission to write, or memory is missing, and again where it is not.

Each kind of obstacle has a process of its own, which copies a finished project, without its results, and runs it
several times in this folder: on a file system in memory with more space each time; with one folder after another that
nobody can write to; and with a limit of memory that is higher each time, under which the system kills processes. The
last run has no obstacle.

Mounts are made in a namespace (`unshare`), and limits of memory in a control group, which root can make.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT

from tests.reliability.trial import Trial
from tests.workflow.kills import finish, results
from tests.workflow.project import ROOT, Project

STEP = 1_200_000  # bytes of disk; the run writes about 4 MB
MOST = 12  # attempts on a disk
READ_ONLY = ("data", "results", "results/sim-iapr/regions/seed1", "results/tables", "figures")
MEMORY = range(200, 1000, 50)  # MiB
# Folder of control groups -> the file with a group's limit of memory; the first is that of version 1
GROUPS = {Path("/sys/fs/cgroup/memory"): "memory.limit_in_bytes", Path("/sys/fs/cgroup"): "memory.max"}
NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")
NONE = "none"  # in place of the name of an obstacle
CAUSE = re.compile(
    r"No space left on device|The disk is full|cannot be written: .+|.*most likely because memory ran out"
)
HEADINGS = ["obstacle", "exit status", "complete files", "of these, different", "message"]


@dataclass(frozen=True)
class Attempt:
    """What an obstacle was, how the run ended, what it printed, and which files there were.

    `different` has the paths of files that are not as after an undisturbed run or, if the run succeeded, are missing.
    """

    obstacle: str
    status: int
    text: str
    made: int
    different: list[str]

    @property
    def message(self) -> str:
        """What the run printed about the obstacle."""
        if self.status == -9:
            return "(Snakemake was killed)"
        found = CAUSE.search(self.text)
        return found[0].strip() if found else ""

    @property
    def failures(self) -> list[str]:
        told = bool(self.message) == (self.status != 0) == (self.obstacle != NONE)
        said = [] if told and "Traceback" not in self.text else [f"exit status {self.status}: {self.text[-2000:]}"]
        return [f"{self.obstacle}: {what}" for what in (*said, *(f"different: {path}" for path in self.different))]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", action="append", choices=OBSTACLES, metavar="KIND", help=f"of {', '.join(OBSTACLES)}")


def run(arguments: argparse.Namespace) -> Trial:
    attempts: dict[str, list[Attempt]] = {}
    with tempfile.TemporaryDirectory() as folder:
        whole = Project.copy(ROOT, Path(folder) / "whole")
        whole.configure()
        finish(whole)
        for kind in arguments.only or OBSTACLES:
            words = ["-m", "tests.workflow.obstacles", kind, str(whole.folder), str(Path(folder) / kind)]
            prefix = () if kind == "memory" else NAMESPACE
            done = subprocess.run([*prefix, sys.executable, *words], cwd=ROOT, stdout=PIPE, text=True, check=True)
            attempts[kind] = [Attempt(**json.loads(line)) for line in done.stdout.splitlines()]
    return summary(attempts)


def summary(of_kinds: Mapping[str, list[Attempt]]) -> Trial:
    """Return a table with a line for each attempt; of each kind, all attempts but the last have to meet an obstacle."""
    attempts = [each for of_kind in of_kinds.values() for each in of_kind]
    rows = [[each.obstacle, each.status, each.made, len(each.different), each.message] for each in attempts]
    hindered = sum(each.obstacle != NONE for each in attempts)
    text = f"{hindered} runs with an obstacle, and {len(attempts) - hindered} in the same folders without one"
    failures = [failure for each in attempts for failure in each.failures]
    for kind, of_kind in of_kinds.items():
        if len(of_kind) < 2 or of_kind[-1].obstacle != NONE:
            failures.append(f"{kind}: no run failed, or none succeeded after that")
    return Trial(text, HEADINGS, rows, failures)


def full_disk(source: Path, folder: Path) -> Iterator[tuple[Project, str]]:
    """Yield a project on a disk with more and more space."""
    mount("-t", "tmpfs", "-o", f"size={1 << 30}", "tmpfs", folder)
    project = Project.copy(source, folder / "vsebench")
    for _ in range(MOST):
        space = shutil.disk_usage(folder).used + STEP
        mount("-t", "tmpfs", "-o", f"remount,size={space}", "tmpfs", folder)
        yield project, f"a disk with {STEP / 1e6} MB of free space"


def read_only(source: Path, folder: Path) -> Iterator[tuple[Project, str]]:
    """Yield a project with one folder that is read-only."""
    project = Project.copy(source, folder / "vsebench")
    for name in READ_ONLY:
        closed = project.folder / name
        closed.mkdir(parents=True, exist_ok=True)
        mount("--bind", closed, closed)
        mount("-o", "remount,bind,ro", closed)
        yield project, f"`{name}` is read-only"
        subprocess.run(["umount", closed], check=True)
    yield project, NONE


def little_memory(source: Path, folder: Path) -> Iterator[tuple[Project, str]]:
    """Yield a project while this process and those that it starts may use more and more memory together."""
    project = Project.copy(source, folder / "vsebench")
    with control_group() as limit:
        for size in MEMORY:
            limit.write_text(str(size << 20))
            yield project, f"{size} MiB of memory"


@contextmanager
def control_group() -> Iterator[Path]:
    """Move this process into a new control group, and yield the file with the limit of its memory."""
    above, limit = next((folder, limit) for folder, limit in GROUPS.items() if folder.is_dir())
    group = above / f"vsebench-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield group / limit
    finally:
        (above / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


OBSTACLES = {"disk": full_disk, "read-only": read_only, "memory": little_memory}


def mount(*words: str | Path) -> None:
    subprocess.run(["mount", *words], check=True)


def attempts(kind: str, source: Path, folder: Path) -> Iterator[Attempt]:
    """Run a project with obstacles of a kind, until a run succeeds; files are compared with those of `source`."""
    whole = results(source)
    folder.mkdir()
    for project, name in OBSTACLES[kind](source, folder):
        command = [sys.executable, "-m", "vsebench", "run", "--cores", "2"]
        done = subprocess.run(
            command, cwd=project.folder, env=project.environment(), stdout=PIPE, stderr=STDOUT, text=True, check=False
        )
        shutil.rmtree(project.folder / ".snakemake" / "locks", ignore_errors=True)
        made = results(project.folder)
        different = [path for path in made if made[path] != whole.get(path)]
        if done.returncode == 0:
            different += sorted(whole.keys() - made.keys())
        else:  # a killed job cannot delete its temporary file; the next run does
            different = [path for path in different if ".tmp" not in path]
        yield Attempt(NONE if done.returncode == 0 else name, done.returncode, done.stdout, len(made), different)
        if done.returncode == 0:
            return


if __name__ == "__main__":
    for attempt in attempts(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])):
        print(json.dumps(asdict(attempt)), flush=True)
