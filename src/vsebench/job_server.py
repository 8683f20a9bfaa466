"""A server that imports packages once and forks a process per job.

Without the server, small jobs would mostly wait for imports. The server imports a stage before the first job of that
stage. The script workflow/start_job.py requests a job and waits for it. Like any process, a job has its own arguments,
environment, folder and streams. The server ends when Snakemake ends.
"""

import atexit
import gc
import importlib
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# The environment variable that names the server's socket; if it is not set, jobs start without a server.
SERVER = "VSEBENCH_SERVER"
# Modules that the stage `figure` itself imports only when a figure needs them.
DRAWING = [*(f"matplotlib.backends.backend_{name}" for name in ("agg", "pdf", "svg")), "seaborn"]

PATIENCE = 5.0  # seconds that a client has to send its request; meanwhile, all other clients wait

_STARTED = time.time()
_SERVERS: list["subprocess.Popen[bytes]"] = []  # keeps their standard inputs open; a server stops when its input ends


@dataclass(frozen=True)
class Job:
    """A command line of vsebench, and the folder, environment and streams to run it with."""

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    streams: list[int]  # the file descriptors of standard input, output and error

    def close(self) -> None:
        for stream in self.streams:
            os.close(stream)

    def run(self) -> int:
        """Run the job in this newly forked process, and return its exit status."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for target, stream in enumerate(self.streams):
            os.dup2(stream, target)
        self.close()
        os.chdir(self.folder)
        if _edited():
            os.execve(sys.executable, [sys.executable, "-m", "vsebench", *self.arguments], self.environment)
        os.environ.clear()
        os.environ.update(self.environment)
        sys.argv = ["vsebench", *self.arguments]
        from vsebench.cli import main

        return main(self.arguments)


def start() -> None:
    """Start the server for the jobs of this process; the server ends when this process ends.

    If sockets cannot be created, no server is started, and every job imports the packages itself.
    """
    folder = Path(tempfile.mkdtemp(prefix="vsebench-"))
    path = folder / "jobs"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        listener.listen(64)
    except OSError:  # the path is too long for a socket, or the file system has no sockets
        listener.close()
        shutil.rmtree(folder)
        return
    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "VECLIB")}
    command = [sys.executable, "-m", "vsebench.job_server", str(listener.fileno()), str(folder)]
    with listener:
        _SERVERS.append(
            subprocess.Popen(
                command, stdin=subprocess.PIPE, pass_fds=[listener.fileno()], env={**os.environ, **one_thread}
            )
        )
    os.environ[SERVER] = str(path)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # a server that was killed leaves it behind


def serve(listener: socket.socket, end: int) -> Job | None:
    """Fork a job for each connection and send back the job's exit status, until the stream `end` is closed.

    In each forked process, returns the job that the process is to run. In the server itself, returns None at the end.
    """
    jobs: dict[int, socket.socket] = {}
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # the end of a job then wakes the loop below
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Snakemake decides when to end
    with listener, woken, wake, selectors.DefaultSelector() as selector, _woken_by_signals(wake):
        for stream in (listener, woken, end):
            selector.register(stream, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd == end:
                    return None
                if key.fileobj is listener:
                    if job := _fork(listener.accept()[0], jobs, selector):
                        return job
                elif key.fileobj is woken:
                    woken.recv(4096)
                else:  # the process that requested the job has ended
                    selector.unregister(key.fileobj)
                    os.kill(key.data, signal.SIGTERM)
            _send_exit_statuses(jobs, selector)


@contextmanager
def _woken_by_signals(wake: socket.socket) -> Iterator[None]:
    """Let each signal write a byte into a socket, which must stay open until the `with` block ends."""
    signal.set_wakeup_fd(wake.fileno())
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)


def _fork(connection: socket.socket, jobs: dict[int, socket.socket], selector: selectors.BaseSelector) -> Job | None:
    """Fork a process for the job that a connection requests; return the job in the child and None in the server.

    The server sends the id of the process in four bytes and, when the process has ended, its exit status in one byte.
    """
    job = _read_request(connection)
    if job is None:
        connection.close()
        return None
    _import_stage("".join(job.arguments[1:2]).replace("-", "_"))
    if process := os.fork():
        jobs[process] = connection
        selector.register(connection, selectors.EVENT_READ, process)
        job.close()
        with suppress(OSError):
            connection.send(process.to_bytes(4, "big"))
        return None
    for inherited in (connection, *jobs.values()):
        inherited.close()
    return job


@cache
def _import_stage(stage: str) -> None:
    """Import the modules that the jobs of a stage import; ignore errors, because the job itself reports them."""
    with suppress(Exception):
        for module in [f"vsebench.stages.{stage}", *(DRAWING if stage == "figure" else [])]:
            importlib.import_module(module)
    gc.freeze()  # the garbage collector then ignores these objects, so their pages stay shared with the jobs


def _edited() -> bool:
    """Return whether a module that the server has imported was edited or deleted since the server started."""
    imported = [module.__file__ for name, module in sys.modules.items() if name.startswith("vsebench.")]
    try:
        return any(os.stat(file).st_mtime > _STARTED for file in imported if file)  # noqa: PTH116 (pathlib takes twice as long)
    except FileNotFoundError:
        return True


def _read_request(connection: socket.socket) -> Job | None:
    """Read the job that a connection requests; return None if the request is wrong or not complete in time."""
    end = time.monotonic() + PATIENCE
    streams: list[int] = []
    try:
        connection.settimeout(PATIENCE)
        _, streams, *_ = socket.recv_fds(connection, 1, 3)
        line = b""
        while not line.endswith(b"\n"):
            if (left := end - time.monotonic()) <= 0:
                raise TimeoutError
            connection.settimeout(left)
            if not (part := connection.recv(1 << 16)):
                break
            line += part
        arguments, folder, environment = json.loads(line)
        connection.settimeout(None)
        return Job(list(map(str, arguments)), str(folder), dict(environment), streams)
    except (OSError, ValueError, TypeError):
        for stream in streams:
            os.close(stream)
        return None


def _send_exit_statuses(jobs: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
    """Send the exit status of each job that has ended.

    If a signal ended the job, the status is 128 plus the number of the signal.
    """
    while jobs:
        process, status = os.waitpid(-1, os.WNOHANG)
        if not process:
            return
        connection, code = jobs.pop(process), os.waitstatus_to_exitcode(status)
        with suppress(KeyError):
            selector.unregister(connection)
        with suppress(OSError), connection:
            connection.send(bytes([code if code >= 0 else 128 - code]))


def _main(listener: str, folder: str) -> int:
    import numba
    import polars  # noqa: F401
    import pydantic  # noqa: F401
    import threadpoolctl  # noqa: F401
    import yaml  # noqa: F401
    from scipy import sparse, special  # noqa: F401

    import vsebench.kernels  # noqa: F401

    numba.njit("void()")(lambda: None)  # because the first kernel that a process compiles takes 0.1 s longer
    gc.freeze()
    if job := serve(socket.socket(fileno=int(listener)), sys.stdin.fileno()):
        status = job.run()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # a normal exit would take a twentieth of a second to free all modules
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
