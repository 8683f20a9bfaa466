from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.workflow.project import ROOT, Outcome, Project


@dataclass(frozen=True)
class Finished:
    """A project after its first run, and what that run said. Tests read it; those that change something clone it."""

    project: Project
    outcome: Outcome


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    # The space in the folder's name is there on purpose.
    project = Project.copy(ROOT, tmp_path_factory.mktemp("workflow") / "my papers" / "vsebench")
    project.configure()
    outcome = project.snakemake()
    assert outcome.status == 0, outcome.text[-5000:]
    return Finished(project, outcome)


@pytest.fixture
def fresh(finished: Finished, tmp_path: Path) -> Project:
    """The same files without results."""
    return Project.copy(finished.project.folder, tmp_path / "vsebench")


@pytest.fixture
def changed(finished: Finished, tmp_path: Path) -> Callable[..., Outcome]:
    """Clone the finished project, change files in it, and return the dry-run: what a run would do again."""

    def dry_run(*arguments: str, change: Callable[[Project], object] = lambda clone: None) -> Outcome:
        clone = Project.clone(finished.project, tmp_path / "clone")
        change(clone)
        return clone.dry_run(*arguments)

    return dry_run
