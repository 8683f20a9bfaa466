"""Functions that run in a process of their own, and the end of a process whose Snakemake has ended."""

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


def run_in_new_process(function: Callable[..., Result], *arguments: object) -> Result:
    """Call a function of a module in a new process, and return what it returns.

    The process is forked from one that has imported the function's module and has done nothing else. So it starts
    quickly, and neither its memory nor its threads come from the process that calls.

    Raises
    ------
    UserError
        If the process was killed.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([function.__module__])
    try:
        with ProcessPoolExecutor(1, mp_context=context, initializer=end_with_snakemake) as pool:
            return pool.submit(function, *arguments).result()
    except BrokenProcessPool:
        raise UserError("a process was killed; most often that means that memory ran out") from None


def end_with_snakemake() -> None:
    """End this process soon after the Snakemake that it belongs to has ended; workflow/job.sh names its process.

    A Snakemake that is killed leaves its jobs running: they would write into the results of the next run and disturb
    its timings.
    """
    if "VSEBENCH_PARENT" in os.environ:
        parent = int(os.environ["VSEBENCH_PARENT"])
        threading.Thread(target=_watch, args=[parent], daemon=True).start()


def _watch(parent: int) -> None:
    while True:
        time.sleep(0.5)
        try:
            os.kill(parent, 0)  # signal 0 is not sent; this only checks that the process exists
        except OSError:
            os._exit(1)
