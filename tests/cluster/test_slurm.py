"""A run over a real Slurm gives the same bytes, times jobs alone, and survives a lost job and a lost node.

`make test-slurm` runs these; they need root, Slurm and munge, and the packages of `make setup-cluster`.
"""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.slurm import Slurm, missing
from tests.workflow.project import ROOT, SAME, Project, wait_until

pytestmark = pytest.mark.slurm
# This Slurm has no database of accounts, and a node of few cores.
OPTIONS = ("--profile", "profiles/slurm", "--slurm-no-account", "--slurm-status-command", "squeue")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    lacking = missing()
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        lacking = "snakemake-executor-plugin-slurm is not installed: make setup-cluster"
    if lacking:
        pytest.exit(f"make test-slurm: {lacking}", returncode=1)
    with Slurm(tmp_path_factory.mktemp("slurm")) as started:
        yield started


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same configuration on this machine alone."""
    project = Project.copy(ROOT, tmp_path_factory.mktemp("local") / "vsebench")
    project.configure()
    outcome = project.snakemake()
    assert outcome.status == 0, outcome.text
    return project


@pytest.fixture
def project(local: Project, tmp_path: Path) -> Project:
    """A folder without results; numba's cache comes along."""
    project = Project.copy(local.folder, tmp_path / "vsebench")
    project.configure()
    return project


def times(project: Project) -> dict[tuple[str, str], tuple[float, float]]:
    """Return when each job, by its rule and log, began and ended, as Snakemake recorded it."""
    found = {}
    for path in (project.folder / ".snakemake" / "metadata").rglob("*"):
        if path.is_file():
            record = json.loads(path.read_text(encoding="utf-8"))
            found[record["rule"], str(record["log"])] = (record["starttime"], record["endtime"])
    return found


def test_a_run_over_slurm_has_the_same_bytes_and_times_alone(slurm: Slurm, local: Project, project: Project) -> None:
    outcome = project.snakemake(*OPTIONS)
    assert outcome.status == 0, outcome.text
    assert "has been submitted with SLURM jobid" in outcome.text
    assert project.found(*SAME) == local.found(*SAME)
    recorded = times(project)
    timed = {job: ends for job, ends in recorded.items() if job[0] in {"time_methods", "scale"}}
    assert len(timed) == 2  # one for each task
    for job, (start, end) in timed.items():
        assert [other for other, ends in recorded.items() if other != job and ends[0] < end and ends[1] > start] == []


def test_a_cancelled_job_and_a_node_that_dies_are_survived(slurm: Slurm, local: Project, project: Project) -> None:
    running = project.start(*OPTIONS)
    wait_until(slurm.jobs)
    slurm.said("scancel", slurm.jobs()[0])
    wait_until(lambda: "Trying to restart" in project.started)
    wait_until(slurm.jobs)
    slurm.stop("slurmd", kill=True)
    wait_until(lambda: "down" in slurm.said("sinfo", "--noheader", "--format", "%T"))
    slurm.start_node()
    status = running.wait(timeout=900)
    if status:  # a job was lost twice; another run continues
        outcome = project.snakemake(*OPTIONS)
        assert outcome.status == 0, outcome.text
    assert project.found(*SAME) == local.found(*SAME)
