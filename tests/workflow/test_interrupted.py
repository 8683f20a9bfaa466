"""A run that is stopped again and again, resumed, and compared with one that was not.

`python -m tests.workflow.kills` does the same at random moments, as often as one likes.
"""

import os
import signal
import subprocess
from contextlib import suppress

import psutil

from tests.workflow.project import MODELS, SAME, TRAINED, UNTRAINED, Project, wait_until

ROWS = len(UNTRAINED + TRAINED)
KILLED = "vsebench: this job was killed, most likely because memory ran out"


def start_until(project: Project, models: int) -> "subprocess.Popen[bytes]":
    """Start a run and return once so many models are there and a job is running."""
    process = project.start("accuracy")
    try:
        wait_until(lambda: process.poll() is not None or (len(project.found(MODELS)) >= models and project.jobs()))
        assert process.poll() is None, project.started[-3000:]
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process


def stop_at(project: Project, models: int, number: signal.Signals) -> int:
    """Run until so many models are there, then send a signal to Snakemake and all its jobs; return the exit status."""
    process = start_until(project, models)
    os.killpg(process.pid, number)
    return process.wait(timeout=60)


def kill_a_job(project: Project) -> None:
    """Kill a job that runs, as the system does when memory ends."""
    while True:
        for job in project.jobs():
            with suppress(psutil.NoSuchProcess):  # it just ended; take another
                job.kill()
                return


def test_an_interrupted_run_resumes_to_the_same_bytes(finished, fresh):
    # Ctrl-C: Snakemake removes what was half done and its lock.
    assert stop_at(fresh, 2, signal.SIGINT) != 0
    assert 0 < len(fresh.found(MODELS)) < ROWS

    # A kill, as by a power loss: the lock stays, and Snakemake says how to remove it.
    assert stop_at(fresh, 4, signal.SIGKILL) == -signal.SIGKILL
    gone = subprocess.Popen(["true"])
    gone.wait()
    leftover = fresh.folder / "results" / "sim-iapr" / "regions" / f".summary.{gone.pid}.tmp.parquet"
    leftover.write_bytes(b"half a file")
    locked = fresh.snakemake("accuracy")
    assert locked.status != 0
    assert "Directory cannot be locked" in locked.text
    assert "--unlock" in locked.text
    assert fresh.snakemake("--unlock").status == 0

    # Snakemake alone is killed: its jobs end too, before they could write into the results of the next run.
    alone = start_until(fresh, 5)
    alone.kill()
    alone.wait(timeout=60)
    wait_until(lambda: not fresh.jobs(), seconds=10)
    assert fresh.snakemake("--unlock").status == 0

    # One job is killed: the others go on, and the end names the job, its log and the reason.
    process = start_until(fresh, 6)
    kill_a_job(fresh)
    assert process.wait(timeout=300) == 1
    _, _, summary = fresh.started.rpartition("Failed; the results of the others stay")
    assert KILLED in summary
    assert any(KILLED in path.read_text() for path in (fresh.folder / "results").rglob("*.log"))

    resumed = fresh.snakemake("accuracy")
    assert resumed.status == 0, resumed.text[-5000:]
    assert [job.rule for job in resumed.jobs].count("train") < ROWS - 1  # finished models stay
    expected = finished.project.found(*SAME)
    assert len(expected) == 3 + len(TRAINED) + 3 * ROWS + 1 + 2 + 3
    assert fresh.found(*SAME) == expected
    assert [path for name in ("data", "results", "figures") for path in (fresh.folder / name).rglob("*.tmp*")] == []
    assert "Nothing to be done" in fresh.snakemake("accuracy").text
