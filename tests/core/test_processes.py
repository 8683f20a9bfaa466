"""Functions in processes of their own, and jobs that end when their Snakemake has ended."""

import os
import shlex
import signal
import subprocess
import sys

import pytest

from tests.workflow.project import is_gone, wait_until
from vsebench.core.errors import UserError
from vsebench.core.machine import peak_memory_bytes
from vsebench.core.processes import run_command, run_in_new_process


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


def ended(command, folder):
    return run_command(command, folder, os.environ)


def test_a_command_of_the_shell_runs_in_its_folder_and_is_measured(tmp_path):
    code = shlex.quote('import time; kept = b"x" * 200_000_000; time.sleep(1)')
    done = ended(f"sleep 0.2; {sys.executable} -c {code}; echo $(pwd) > here; exit 3", tmp_path)
    assert done.status == 3
    assert done.seconds > 0.2
    assert done.peak_bytes > 200_000_000
    assert (tmp_path / "here").read_text().strip() == str(tmp_path.resolve())
    assert ended("kill -9 $$", tmp_path).status == -signal.SIGKILL


def test_the_memory_of_children_that_run_at_once_adds_up(tmp_path):
    child = f"{sys.executable} -c 'import time; kept = b\"x\" * 100_000_000; time.sleep(1.5)'"
    assert ended(f"{child} & {child} & wait", tmp_path).peak_bytes > 200_000_000


def test_what_a_command_leaves_in_the_background_ends_with_it(tmp_path):
    assert ended("sleep 60 & echo $! > background", tmp_path).status == 0
    assert is_gone(int((tmp_path / "background").read_text()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_command_ends_with_its_children_when_the_process_that_started_it_is_killed(tmp_path, number):
    command = "trap '' INT; sleep 60 & echo $! > child; echo $$ > own; wait; sleep 60"
    code = (
        "import os, pathlib, sys; from vsebench.core.processes import ending_on_signals, run_command\n"
        f"with ending_on_signals(): run_command({command!r}, pathlib.Path('.'), os.environ)"
    )
    job = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.DEVNULL)
    wait_until((tmp_path / "own").exists)
    os.kill(job.pid, number)
    assert job.wait(timeout=30) != 0
    for name in ("child", "own"):
        process = int((tmp_path / name).read_text())
        wait_until(lambda process=process: is_gone(process), seconds=30)


def test_a_command_ends_even_if_a_signal_comes_while_it_is_started(tmp_path, monkeypatch):
    popen = subprocess.Popen

    def interrupted(words, **options):
        process = popen(words, **options)
        if "cwd" in options:
            wait_until(lambda: (tmp_path / "child").is_file() and (tmp_path / "child").read_text())
            raise SystemExit(128 + signal.SIGTERM)
        return process

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(SystemExit):
        ended("sleep 60 & echo $! > child; wait", tmp_path)
    wait_until(lambda: is_gone(int((tmp_path / "child").read_text())), seconds=30)
