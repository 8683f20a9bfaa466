"""A run that is stopped half-way, resumed, and compared with one that was not."""

import os
import signal
import time
from collections.abc import Callable

from tests.workflow.project import TRAINED, UNTRAINED, Project

MODELS = len(UNTRAINED + TRAINED)
SAME = [
    "results/*/*/*/split/*.parquet",
    "results/*/*/*/*/selection.json",
    "results/*/*/*/*/model.npz",
    "results/*/*/*/*/ranks.parquet",
    "results/*/*/*/*/metrics.parquet",
    "results/*/*/summary.parquet",
    "results/metrics.parquet",
    "results/summary.parquet",
    "results/tables/accuracy-*",
]


def stop_at(project: Project, models: int, number: signal.Signals) -> int:
    """Run until so many models are there, then send a signal to Snakemake and all its jobs; return the exit status."""
    process = project.start("accuracy")
    try:
        wait_until(lambda: process.poll() is not None or len(found(project, SAME[2])) >= models)
        assert process.poll() is None, (project.folder / "started.log").read_text()[-3000:]
    finally:
        os.killpg(process.pid, number)
    return process.wait(timeout=60)


def wait_until(condition: Callable[[], bool], seconds: float = 300) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)


def found(project: Project, *patterns: str) -> dict[str, bytes]:
    paths = [path for pattern in patterns for path in project.folder.glob(pattern)]
    return {str(path.relative_to(project.folder)): path.read_bytes() for path in paths}


def test_an_interrupted_run_resumes_to_the_same_bytes(finished, fresh):
    # Ctrl-C: Snakemake removes what was half done and its lock.
    assert stop_at(fresh, 2, signal.SIGINT) != 0
    assert 0 < len(found(fresh, SAME[2])) < MODELS

    # A kill, as by a power loss: the lock stays, and Snakemake says how to remove it.
    assert stop_at(fresh, 4, signal.SIGKILL) == -signal.SIGKILL
    leftover = fresh.folder / "results" / "sim-iapr" / "regions" / ".summary.4711.tmp.parquet"
    leftover.write_bytes(b"half a file")
    locked = fresh.snakemake("accuracy")
    assert locked.status != 0
    assert "Directory cannot be locked" in locked.text
    assert "--unlock" in locked.text
    assert fresh.snakemake("--unlock").status == 0

    resumed = fresh.snakemake("accuracy")
    assert resumed.status == 0, resumed.text[-5000:]
    assert 0 < [job.rule for job in resumed.jobs].count("train") < MODELS - 1  # finished models stay
    expected = found(finished.project, *SAME)
    assert len(expected) == 3 + len(TRAINED) + 3 * MODELS + 1 + 2 + 3
    assert found(fresh, *SAME) == expected
    assert not list(fresh.folder.rglob("*.tmp*"))
    assert "Nothing to be done" in fresh.snakemake("accuracy").text
