import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.workflow.project import ROOT, TINY, TRAINED, Outcome, Project
from vsebench.plan import read_plan
from vsebench.plan.settings import compiled_settings

EQUATIONS = "  equations: {kind: equations, equations: [{equation: '1', printed: minus, right: plus}]}\n"


@dataclass(frozen=True)
class Finished:
    """A project after its first run, and the outcome of that run. Tests read it, or clone it to change something."""

    project: Project
    outcome: Outcome
    temporary: Path  # its folder for temporary files


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compile the kernels of the shared run in the checkout, where all other tests and copies find them."""
    folder = tmp_path_factory.mktemp("compiled")
    kernels: list[list[str]] = [[]]  # of ranking and the simulator
    plan = read_plan(ROOT / "config", TINY, [])
    kernels += [["--module", row, "--settings", json.dumps(compiled_settings(plan, row))] for row in TRAINED]
    command = [sys.executable, "-m", "vsebench", "stage", "compile"]
    started = [
        subprocess.Popen([*command, *arguments, "--out", str(folder / f"{number}.json")], cwd=ROOT)
        for number, arguments in enumerate(kernels)
    ]
    assert [process.wait() for process in started] == [0] * len(kernels)


@pytest.fixture(scope="session")
def finished(compiled: None, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    # The space in the folder's name is there on purpose.
    project = Project.copy(ROOT, tmp_path_factory.mktemp("workflow") / "my papers" / "vsebench")
    project.configure()
    # A table that every run has, since none of the paper's own tables applies to simulated data.
    project.edit("config/papers/vse_ens.yaml", "tables:\n", f"tables:\n{EQUATIONS}")
    temporary = tmp_path_factory.mktemp("t")  # a short name, as a socket needs
    status = project.start("--verbose", TMPDIR=temporary).wait()
    outcome = Outcome(status, project.started)
    assert outcome.status == 0, outcome.text[-5000:]
    return Finished(project, outcome, temporary)


@pytest.fixture
def fresh(finished: Finished, tmp_path: Path) -> Project:
    """The same files without results."""
    return Project.copy(finished.project.folder, tmp_path / "vsebench")


@pytest.fixture
def unfitted(finished: Finished, tmp_path: Path) -> Project:
    """The same files with data sets, splits and compiled kernels, but without models and later results."""
    project = Project.clone(finished.project, tmp_path / "vsebench")
    for path in project.folder.glob("results/*/*/seed1/*"):
        if path.name != "split":
            shutil.rmtree(path)
    for path in project.folder.glob("results/*/*/*.parquet"):
        path.unlink()
    return project


@pytest.fixture
def changed(finished: Finished, tmp_path: Path) -> Callable[..., Outcome]:
    """Clone the finished project, change files in it, and return a dry-run of the jobs that a run would repeat."""

    def dry_run(*arguments: str, change: Callable[[Project], object] = lambda clone: None) -> Outcome:
        clone = Project.clone(finished.project, tmp_path / "clone")
        change(clone)
        return clone.dry_run(*arguments)

    return dry_run
