"""Run a function in a new process, and end a job's process when the Snakemake process of its run has ended."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from vsebench.core.errors import UserError

Result = TypeVar("Result")


class KilledError(UserError):
    """Raised if a process was killed, most often because memory ran out."""


def run_in_new_process(function: Callable[..., Result], *arguments: object) -> Result:
    """Call a function of a module in a new process, and return its result.

    The process is forked from one that has imported the function's module and done nothing else. It therefore starts
    quickly and inherits neither memory nor threads from the caller. If it is killed, a `KilledError` is raised.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([function.__module__])
    try:
        with ProcessPoolExecutor(1, mp_context=context, initializer=end_with_snakemake) as pool:
            return pool.submit(function, *arguments).result()
    except BrokenProcessPool:
        raise KilledError("a process was killed, usually because memory ran out") from None


def end_with_snakemake() -> None:
    """End this process soon after the Snakemake that started it has ended; workflow/job.sh passes Snakemake's id.

    When Snakemake is killed, its jobs keep running: they would write into the results of the next run and disturb its
    timings.
    """
    if "VSEBENCH_PARENT" in os.environ:
        parent = int(os.environ["VSEBENCH_PARENT"])
        threading.Thread(target=_watch, args=[parent], daemon=True).start()


def _watch(parent: int) -> None:
    while True:
        time.sleep(0.5)
        try:
            os.kill(parent, 0)  # signal 0 only checks that the process exists
        except OSError:
            os._exit(1)
