"""Functions in processes of their own, and jobs that end when their Snakemake has ended."""

import os
import signal
import subprocess
import sys

import pytest

from vsebench.core.errors import UserError
from vsebench.core.machine import peak_memory_bytes
from vsebench.core.processes import run_in_new_process


def fill(n_bytes):
    """Return the process id and the peak memory after an allocation."""
    bytearray(n_bytes)
    return os.getpid(), peak_memory_bytes()


def refuse(message):
    raise UserError(message)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def test_each_call_has_a_process_and_a_peak_of_its_own():
    here = bytearray(300_000_000)
    large, small = run_in_new_process(fill, 200_000_000), run_in_new_process(fill, 0)
    assert len({os.getpid(), large[0], small[0]}) == 3
    assert large[1] - small[1] == pytest.approx(200_000_000, rel=0.1)
    assert small[1] < len(here)


def test_what_a_function_refuses_is_refused():
    with pytest.raises(UserError, match=r"^no such label$"):
        run_in_new_process(refuse, "no such label")


def test_a_killed_process_is_one_line():
    with pytest.raises(UserError, match=r"^a process was killed, usually because memory ran out$"):
        run_in_new_process(die)


def test_a_job_ends_soon_after_its_snakemake():
    parent = subprocess.Popen(["sleep", "60"])
    start = "import time; from vsebench.core.processes import end_with_snakemake"
    code = f"{start}; end_with_snakemake(); print('on', flush=True); time.sleep(60)"
    environment = os.environ | {"VSEBENCH_PARENT": str(parent.pid)}
    job = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
    assert job.stdout.readline() == "on\n"
    assert job.poll() is None
    parent.kill()
    parent.wait()
    assert job.wait(timeout=30) == 1
