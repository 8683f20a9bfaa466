"""The shell of a job, without Snakemake; `python` is replaced by a script that ends as the test requires."""

import os
import shlex
import socket
import subprocess

import pytest

from tests.workflow.project import ROOT

KILLED = "vsebench: this job was killed, most likely because memory ran out\n"


@pytest.fixture
def shell(tmp_path):
    """Run a job's command as Snakemake does; its `python` runs its last argument as a command of the shell."""
    program = tmp_path / "bin of this test" / "python"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "says something"\neval "$3"\n')
    program.chmod(0o755)

    def run(command):
        prefix = f"BIN={shlex.quote(str(program.parent))}; . {shlex.quote(str(ROOT / 'workflow' / 'job.sh'))}; "
        return subprocess.run(
            ["bash", "-c", prefix + command], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return run


@pytest.mark.parametrize("redirection", ["> {log} 2>&1", "2>&1 | tee {log} >&2", "--out 'a > b' > {log} 2>&1"])
@pytest.mark.parametrize("log", ["train.log", "'a folder/train > 1.log'"])
def test_a_killed_job_says_so_in_its_log(shell, tmp_path, redirection, log):
    (tmp_path / "a folder").mkdir()
    done = shell(f"python -m vsebench 'kill -9 $$' {redirection.format(log=log)}")
    assert done.returncode == 137
    text = (tmp_path / shlex.split(log)[0]).read_text()
    assert text.startswith("says something\n")
    assert text.endswith(KILLED)


def test_a_job_that_fails_keeps_its_status_and_its_log(shell, tmp_path):
    done = shell("python -m vsebench 'echo no such file >&2; exit 3' > train.log 2>&1; echo not reached")
    assert done.returncode == 3
    assert done.stdout == ""
    assert (tmp_path / "train.log").read_text() == "says something\nno such file\n"


def test_a_job_that_succeeds(shell, tmp_path):
    done = shell("python -m vsebench true > train.log 2>&1 && echo reached")
    assert (done.returncode, done.stdout, done.stderr) == (0, "reached\n", "")


def test_a_job_knows_the_process_that_started_its_shell(shell):
    done = shell("""python -m vsebench 'echo "$VSEBENCH_PARENT"'""")
    assert done.stdout.splitlines()[-1] == str(os.getpid())


@pytest.mark.parametrize(("threads", "arguments"), [("1", "-I -S"), ("4", "-m vsebench")])
def test_a_job_with_one_thread_starts_from_the_server(tmp_path, monkeypatch, threads, arguments):
    program, server = tmp_path / "python", tmp_path / "jobs"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("VSEBENCH_SERVER", str(server))
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    command = f"BIN={tmp_path}; . {ROOT / 'workflow' / 'job.sh'}; python -m vsebench gather --out 'a b'"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(server))
        said = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    assert said.startswith(arguments)
    assert said.endswith("gather --out a b\n")


def test_a_text_that_cannot_be_written_whole_leaves_no_file(shell, tmp_path):
    (tmp_path / "results").mkdir()
    path, text = tmp_path / "results" / "about.json", "it's \\n " * 1000
    assert shell(f"write_text results/about.json {shlex.quote(text)}").returncode == 0
    assert path.read_text() == f"{text}\n"
    path.unlink()
    # As on a full disk: the system refuses to write more than a block.
    small = f"trap '' XFSZ; ulimit -f 1; write_text results/about.json {shlex.quote(text)}; echo not reached"
    done = shell(small)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip().endswith("File too large")
    assert list(path.parent.iterdir()) == []
