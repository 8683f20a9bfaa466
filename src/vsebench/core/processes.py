"""Run functions and commands in new processes, and end a process when the Snakemake process that started it ends."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

import psutil

from vsebench.core.errors import UserError
from vsebench.core.machine import peak_memory_of

Result = TypeVar("Result")


PAUSE = 0.1  # longest time between two measurements of memory, in seconds

# This shell, the guard, outlives the process that started it. It reads the id of a command's process group. Then it
# waits for the end of its input, and ends what is left of the group. The input ends when the process that started the
# guard closes it, or ends for any reason.
GUARD = """
read -r group || exit 0
read -r end
kill -s TERM -- "-$group" || exit 0
for turn in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.1
    kill -s 0 -- "-$group" || exit 0
done
kill -s KILL -- "-$group"
"""
# The first shell of a command tells the guard the id of the group before it runs the command itself. The command
# therefore ends whenever this process is interrupted, even before this process knows the command's id.
COMMAND = 'echo $$ >&0; exec /bin/sh -c "$0" </dev/null'


class KilledError(UserError):
    """Raised if a process was killed, most often because memory ran out."""


def run_in_new_process(function: Callable[..., Result], *arguments: object) -> Result:
    """Call a function of a module in a new process, and return its result.

    The new process is forked from a process that has imported the function's module and done nothing else. The new
    process therefore starts quickly and inherits neither memory nor threads from the caller. If it is killed, a
    `KilledError` is raised.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([function.__module__])
    try:
        with ProcessPoolExecutor(1, mp_context=context, initializer=end_with_snakemake) as pool:
            return pool.submit(function, *arguments).result()
    except BrokenProcessPool:
        raise KilledError("a process was killed, usually because memory ran out") from None


def end_with_snakemake() -> None:
    """End this process soon after the Snakemake process that started it ends.

    Otherwise, the jobs of a killed Snakemake would keep running, write into the results of the next run and disturb its
    timings. The environment variable VSEBENCH_PARENT contains the id of the Snakemake process; workflow/job.sh sets it.
    """
    if "VSEBENCH_PARENT" in os.environ:
        parent = int(os.environ["VSEBENCH_PARENT"])
        threading.Thread(target=_watch, args=[parent], daemon=True).start()


def _watch(parent: int) -> None:
    while True:
        time.sleep(0.5)
        try:
            os.kill(parent, 0)  # signal 0 sends nothing, but fails if there is no such process
        except OSError:
            os._exit(1)


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes
    ----------
    status : exit status, or minus the number of the signal that ended the command
    seconds : wall time
    peak_bytes : peak memory of the command and its children, or None if it was not measured. Shared memory counts
        once for each process that shares it
    """

    status: int
    seconds: float
    peak_bytes: int | None


def run_command(command: str, folder: Path, environment: Mapping[str, str]) -> Ended:
    """Run a shell command in a folder.

    The command gets no input. Its output goes to the output streams of this process. The command leads a process group.
    The group ends with the command, or when this process ends for any reason.
    """
    guard = subprocess.Popen(
        ["/bin/sh", "-c", GUARD],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert guard.stdin is not None
    start = time.perf_counter()
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", COMMAND, command], cwd=folder, env=environment, stdin=guard.stdin, start_new_session=True
        )
        with PeakMemory(process.pid) as memory:
            status = process.wait()
            seconds = time.perf_counter() - start
    finally:
        guard.stdin.close()
        guard.wait()
    return Ended(status, seconds, memory.peak_bytes)


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Make SIGINT and SIGTERM raise `SystemExit` in a `with` block, so that the block can clean up.

    polars installs a handler for SIGINT that restarts interrupted system calls (SA_RESTART). With this handler, SIGINT
    does not end the wait for a process. Inside the block, the handler is therefore replaced.
    """
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, frame: sys.exit(128 + number)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


class PeakMemory:
    """Measures the memory of a process and its children, about ten times per second, in a `with` block.

    Attributes
    ----------
    peak_bytes : the largest total memory of these processes so far or, if larger, the peak that the system recorded for
        one of them
    """

    def __init__(self, process: int) -> None:
        self.peak_bytes = 0
        self._process, self._ended = process, threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _measure(self) -> None:
        pause = PAUSE / 32  # begins with short pauses, so that short commands are measured, too
        while True:
            with suppress(psutil.Error):  # the process may end meanwhile
                self._measure_once(psutil.Process(self._process))
            if self._ended.wait(pause):
                return
            pause = min(2 * pause, PAUSE)

    def _measure_once(self, process: psutil.Process) -> None:
        used = []
        for member in [process, *process.children(recursive=True)]:
            with suppress(psutil.Error):
                used.append(member.memory_info().rss)
                self.peak_bytes = max(self.peak_bytes, peak_memory_of(member.pid) or 0)
        self.peak_bytes = max(self.peak_bytes, sum(used))
