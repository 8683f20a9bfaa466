"""A run that is killed and resumed, compared with an undisturbed run.

`python -m tests.reliability kills` does the same at random moments, any number of times, and also kills single jobs.
"""

import os
import signal
import subprocess

import pytest

from tests.workflow.project import MODELS, SAME, tiny_set, wait_until

METHODS = ["popularity", "opt_auc", "vse_fs"]


@pytest.mark.long
def test_a_killed_run_resumes_to_the_same_bytes(finished, fresh):
    fresh.configure(methods=METHODS, datasets=tiny_set("regions"))
    process = fresh.start("accuracy")
    wait_until(lambda: process.poll() is not None or fresh.found(MODELS))
    # As in a power failure, all processes end at once. The lock stays, and Snakemake explains how to remove it.
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    models = fresh.found(MODELS)
    assert len(models) > 0
    gone = subprocess.Popen(["true"])
    gone.wait()
    leftover = fresh.folder / "results" / "sim-iapr" / "regions" / f".summary.{gone.pid}.tmp.parquet"
    leftover.write_bytes(b"half a file")
    locked = fresh.snakemake("accuracy")
    assert locked.status != 0
    assert "Directory cannot be locked" in locked.text
    assert "--unlock" in locked.text
    assert fresh.snakemake("--unlock").status == 0

    resumed = fresh.snakemake("accuracy")
    assert resumed.status == 0, resumed.text[-5000:]
    made = fresh.found(*SAME[:4])
    assert len(made) == 6 + 3 * len(METHODS)  # files of the split; model, ranks and lists of each method
    assert made == {name: finished.project.found(name)[name] for name in made}
    assert [path for name in ("data", "results", "figures") for path in (fresh.folder / name).rglob("*.tmp*")] == []
    assert "Nothing to be done" in fresh.snakemake("accuracy").text
