"""Run modules in new processes, to measure work that a process does only once."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vsebench.core.errors import UserError

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Child:
    """The JSON value that a process printed, and the running time of the process in seconds."""

    answer: Any
    seconds: float


def run_module(*arguments: str, cache: Path | None = None) -> Child:
    """Run `python -m` with the arguments, and return what the process printed and how long it ran.

    `cache` is the folder for compiled kernels. If it is None, numba uses its default folder. Raise a `UserError` if the
    process fails.
    """
    environment = os.environ | ({"NUMBA_CACHE_DIR": str(cache)} if cache else {})
    start = time.perf_counter()
    result = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if result.returncode:
        raise UserError(f"{' '.join(arguments[:2])} failed: {last_words(result)}")
    return Child(json.loads(result.stdout or "null"), seconds)


def last_words(process: subprocess.CompletedProcess[str]) -> str:
    """Return the last line that a failed process wrote on standard error.

    If the process was killed or wrote nothing, return a text that says how it ended.
    """
    if process.returncode == -signal.SIGKILL:
        return "the process was killed, probably because memory ran out"
    lines = process.stderr.strip().splitlines()
    return lines[-1] if lines else f"the process ended with status {process.returncode}"
