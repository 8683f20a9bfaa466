"""A copy of the workflow in another folder, where tests run Snakemake as a user does and may edit files."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil  # comes with Snakemake
import yaml

from tests.workflow import warm

ROOT = Path(__file__).parents[2]
TREE = ("Snakefile", "workflow", "profiles", "config", "src")
CONTROLS = ["popularity", "oracle"]
TRAINED = ["opt_auc", "vse_ens", "vse_fs"]
# The variants of the task without features, and of the task whose test images are new.
ON_LABELS = [*CONTROLS, *TRAINED]
ON_NEW_IMAGES = [*CONTROLS, "ridge"]


def tiny_set(*protocols: str) -> dict[str, Any]:
    return {"sim-iapr": {"protocols": list(protocols), "options": {"scale": 0.01}}}


IMAGES = {"sim-features": {"protocols": ["images"], "options": {"scale": 0.05}}}
TINY = {
    "datasets": tiny_set("regions") | IMAGES,
    "methods": [*ON_LABELS, "ridge"],
    "seeds": [1],
    "factors": 8,
    "tune": False,
    "tuning_budget": 12,
    "validation_images": 20000,
    "bootstrap": 100,
    "metrics": ["precision@5", "recall@10", "map", "ndcg@10", "auc", "macro_f1@5", "label_map"],
    "timing": {"repeats": 1, "epochs": 1},
    "papers": ["vse_ens"],
}
# Files without seconds, which have the same bytes in all runs of a configuration.
SAME = [
    "results/*/*/*/split/*.parquet",
    "results/*/*/*/*/model.npz",
    "results/*/*/*/*/ranks.parquet",
    "results/*/*/*/*/lists.parquet",
    "results/*/*/metrics.parquet",
    "results/*/*/summary.parquet",
    "results/metrics.parquet",
    "results/summary.parquet",
    "results/tables/accuracy-*",
]
MODELS_AND_RANKS = SAME[:4]
MODELS = "results/*/*/*/*/model.npz"


@dataclass(frozen=True)
class Job:
    """A job of a dry-run."""

    rule: str
    wildcards: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The exit status of Snakemake, and its output on both streams."""

    status: int
    text: str

    @property
    def jobs(self) -> list[Job]:
        """The jobs that a dry-run listed."""
        blocks = re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n?)*)", self.text, re.MULTILINE)
        # Each data set has a rule of its own, prepare_<data set>.
        return [Job("prepare" if rule.startswith("prepare_") else rule, _wildcards(block)) for rule, block in blocks]

    @property
    def rules(self) -> set[str]:
        return {job.rule for job in self.jobs}

    def of(self, rule: str, wildcard: str) -> set[str]:
        """Return the values of a wildcard among the jobs of a rule."""
        return {job.wildcards[wildcard] for job in self.jobs if job.rule == rule}


def _wildcards(block: str) -> dict[str, str]:
    line = re.search(r"^ {4}wildcards: (.*)$", block, re.MULTILINE)
    return dict(pair.split("=", 1) for pair in line[1].split(", ")) if line else {}


@dataclass(frozen=True)
class Project:
    """A folder with a Snakefile."""

    folder: Path

    @classmethod
    def copy(cls, source: Path, folder: Path) -> "Project":
        """Copy the files of the workflow; numba's cache comes along, so nothing is compiled twice."""
        folder.mkdir(parents=True)
        for name in TREE:
            if (source / name).is_dir():
                shutil.copytree(source / name, folder / name)
            else:
                shutil.copy2(source / name, folder / name)
        return cls(folder)

    @classmethod
    def clone(cls, project: "Project", folder: Path) -> "Project":
        """Copy a project with its results."""
        shutil.copytree(project.folder, folder)
        return cls(folder)

    def configure(self, file: str = "config.yaml", **changes: object) -> Path:
        """Write the tiny configuration; `config.yaml` is the default one."""
        path = self.folder / "config" / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(TINY | changes, sort_keys=False), encoding="utf-8")
        return path

    def change(self, row: str, section: str, **changes: object) -> None:
        """Change a section of a method's configuration; None removes a key."""
        path = self.folder / "config" / "methods" / f"{row}.yaml"
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
        changed = values[section] | changes
        values[section] = {key: value for key, value in changed.items() if value is not None}
        path.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")

    def edit(self, file: str, old: str, new: str) -> None:
        """Edit a source file."""
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def arguments(self, *arguments: str | Path) -> list[str]:
        return ["--cores", "2", "--nocolor", *map(str, arguments)]

    def environment(self, **changes: str | Path) -> dict[str, str]:
        left_out = ("VSEBENCH_", "SNAKEMAKE_", "PYTHONDONTWRITEBYTECODE")  # many processes import the same modules
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        own = {"PYTHONPATH": str(self.folder / "src"), "PWD": str(self.folder)}  # a shell would set PWD
        return kept | own | {name: str(value) for name, value in changes.items()}

    def snakemake(self, *arguments: str | Path, **environment: str | Path) -> Outcome:
        return Outcome(*warm.snakemake(self.arguments(*arguments), self.folder, self.environment(**environment)))

    def dry_run(self, *arguments: str | Path) -> Outcome:
        outcome = self.snakemake(*arguments, "--dry-run")
        assert outcome.status == 0, outcome.text
        return outcome

    def start(self, *arguments: str | Path, **environment: str | Path) -> "subprocess.Popen[bytes]":
        """Start Snakemake as the leader of a process group of its own, as a shell does; `started` is what it said."""
        with (self.folder / "started.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "snakemake", *self.arguments(*arguments)],
                cwd=self.folder,
                env=self.environment(**environment),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def started(self) -> str:
        return (self.folder / "started.log").read_text(encoding="utf-8")

    def jobs(self) -> list[psutil.Process]:
        """Return the commands of the package that run in this folder, whoever started them."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):  # it may end meanwhile
                if is_job(process) and process.cwd() == str(self.folder.resolve()):
                    found.append(process)
        return found

    def found(self, *patterns: str) -> dict[str, bytes]:
        """Read files."""
        paths = [path for pattern in patterns for path in self.folder.glob(pattern)]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}


def is_job(process: psutil.Process) -> bool:
    """Return whether a process is a job: started by itself, or forked from the server of its Snakemake."""
    if process.cmdline()[1:3] == ["-m", "vsebench"]:
        return True
    server = ["-m", "vsebench.job_server"]
    parent = process.parent()
    return process.cmdline()[1:3] == server and parent is not None and parent.cmdline()[1:3] == server


def is_gone(process: int) -> bool:
    """Return whether a process has ended; one that nobody has waited for may still be listed."""
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(condition: Callable[[], object], seconds: float = 300) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)
