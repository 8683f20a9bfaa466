"""Jobs that start as forks of a server behave like separate processes, and run without a server, too."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.workflow.project import ROOT
from vsebench.core.storage import read_json

START_SERVER = "import os, sys; from vsebench import job_server as jobs; jobs.start(); print(os.environ[jobs.SERVER])"


@pytest.fixture
def starter():
    """Yield a process that has started a server and waits."""
    with started() as process:
        yield process


@contextmanager
def started(**environment):
    program = f"{START_SERVER}; sys.stdout.flush(); sys.stdin.read()"
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": {**os.environ, **environment}}
    with subprocess.Popen([sys.executable, "-c", program], text=True, **options) as process:
        process.socket = Path(process.stdout.readline().strip())
        yield process
        process.kill()


def begin(path, *arguments, **options):
    program = [sys.executable, "-I", "-S", str(ROOT / "workflow" / "start_job.py"), str(path)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*program, *map(str, arguments)], text=True, **pipes, **options)


def run(path, *arguments, **options):
    process = begin(path, *arguments, **options)
    said, errors = process.communicate(timeout=60)
    return process.returncode, said, errors


def begin_to_wait(starter, folder):
    """Begin a job that reads from a pipe into which nobody writes; return its client and its own process."""
    os.mkfifo(folder / "pipe")
    client = begin(starter.socket, "stage", "gather", "--inputs", folder / "pipe", "--out", folder / "made.json")
    return client, wait_for(lambda: job_of(starter))


def job_of(starter):
    (server,) = psutil.Process(starter.pid).children()
    return next(iter(server.children()), None)


def wait_for(condition):
    for _ in range(600):
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("waited for 30 s")


def test_a_job_has_its_own_folder_and_environment(starter, tmp_path):
    (tmp_path / "a.json").write_text('{"of": "a"}')
    made = run(starter.socket, "stage", "gather", "--inputs", "a.json", "--out", "made.json", cwd=tmp_path)
    assert made == (0, "", "")
    assert read_json(tmp_path / "made.json") == [{"of": "a"}]
    narrow, wide = ({**os.environ, "COLUMNS": columns} for columns in ("40", "200"))
    said = [run(starter.socket, "stage", "gather", "--help", env=each)[1] for each in (narrow, wide)]
    assert len(said[0].splitlines()) > len(said[1].splitlines())


def test_a_mistake_is_the_same_line_as_without_a_server(starter, tmp_path):
    arguments = ["stage", "gather", "--inputs", tmp_path / "missing.json", "--out", tmp_path / "made.json"]
    status, said, errors = run(starter.socket, *arguments)
    assert (status, said) == (1, "")
    assert errors.startswith("vsebench gather: ")
    assert (status, said, errors) == run(tmp_path / "no server", *arguments)


@pytest.mark.parametrize("arguments", [[], ["no-such-stage"], ["annotate"]])
def test_a_wrong_command_line_is_refused_as_without_a_server(starter, tmp_path, arguments):
    refused = run(starter.socket, *arguments)
    assert refused[0] == 2
    assert refused == run(tmp_path / "no server", *arguments)
    assert run(starter.socket, "stage", "gather", "--help")[0] == 0  # the server goes on


def test_the_server_imports_a_stage_before_its_first_job(starter):
    (server,) = psutil.Process(starter.pid).children()
    before = modules_of(server)
    assert run(starter.socket, "stage", "figure", "--help")[0] == 0
    new = modules_of(server) - before
    assert any("matplotlib" in path for path in new)


def test_an_edited_stage_is_imported_anew(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    stage = tmp_path / "src" / "vsebench" / "stages" / "gather.py"
    copy = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    with started(PYTHONPATH=copy["PYTHONPATH"]) as process:
        before = run(process.socket, "stage", "gather", "--help", env=copy)
        stage.write_text(stage.read_text().replace('"--inputs"', '"--edited"'))
        after = run(process.socket, "stage", "gather", "--help", env=copy)
    assert before[0] == after[0] == 0
    assert "--edited" not in before[1]
    assert "--edited" in after[1]


def modules_of(process):
    """Return the paths of the compiled modules that a process has loaded."""
    return {found.path for found in process.memory_maps() if found.path.endswith(".so")}


def test_a_killed_job_has_the_status_of_one(starter, tmp_path):
    client, job = begin_to_wait(starter, tmp_path)
    job.kill()
    assert client.wait(30) == 128 + 9
    assert run(starter.socket, "stage", "gather", "--help")[0] == 0  # the server goes on


def test_a_job_ends_with_who_asked_for_it(starter, tmp_path):
    client, job = begin_to_wait(starter, tmp_path)
    client.kill()
    client.communicate()
    wait_for(lambda: not job.is_running())
    assert not (tmp_path / "made.json").exists()


def test_a_job_begins_again_if_the_server_is_killed(starter, tmp_path):
    client, job = begin_to_wait(starter, tmp_path)
    (server,) = psutil.Process(starter.pid).children()
    server.kill()
    wait_for(lambda: not job.is_running())
    (tmp_path / "pipe").write_text('{"of": "a"}')
    said, errors = client.communicate(timeout=30)
    assert (client.returncode, said) == (0, "")
    assert errors == "the server of jobs ended; this job begins again without it\n"
    assert read_json(tmp_path / "made.json") == [{"of": "a"}]
    assert run(starter.socket, "stage", "gather", "--help")[0] == 0


def test_a_job_ends_if_the_server_and_snakemake_are_gone(starter, tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    refused = run(
        tmp_path / "no server", "stage", "gather", "--help", env={**os.environ, "VSEBENCH_PARENT": str(ended.pid)}
    )
    assert refused == (137, "", "")


@pytest.mark.parametrize("line", [b"not json\n", b"{}\n", b'[["stage"], "/"]\n', b'[1, 2, "a"]\n', b"[[", b""])
def test_a_wrong_request_is_refused_and_the_server_goes_on(starter, line):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection, Path(os.devnull).open() as stream:
        connection.connect(str(starter.socket))
        socket.send_fds(connection, [b"."], [stream.fileno()] * 3)
        connection.sendall(line)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    assert run(starter.socket, "stage", "gather", "--help")[0] == 0


@pytest.mark.parametrize("part", [b"", b"."])
def test_a_silent_client_delays_other_jobs_only_for_a_while(starter, part):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(starter.socket))
        connection.sendall(part)
        assert run(starter.socket, "stage", "gather", "--help")[0] == 0
        assert connection.recv(1) == b""


def test_a_slow_client_delays_other_jobs_only_for_a_while(starter):
    def send_slowly(connection):
        with suppress(OSError):  # the server has closed the connection
            while True:
                connection.sendall(b" ")
                time.sleep(0.1)

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection, Path(os.devnull).open() as stream:
        connection.connect(str(starter.socket))
        socket.send_fds(connection, [b"."], [stream.fileno()] * 3)
        threading.Thread(target=send_slowly, args=[connection], daemon=True).start()
        assert run(starter.socket, "stage", "gather", "--help")[0] == 0


def test_the_server_ends_with_its_starter_and_leaves_nothing(starter):
    (server,) = psutil.Process(starter.pid).children()
    assert run(starter.socket, "stage", "gather", "--help")[0] == 0
    starter.kill()
    wait_for(lambda: not server.is_running())
    assert not starter.socket.parent.exists()
