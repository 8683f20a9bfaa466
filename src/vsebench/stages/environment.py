"""Make a virtual environment with the packages that a requirements file lists.

The stage uses uv if uv is on the PATH, otherwise venv and pip. When the environment is complete, it contains the file
.complete. An environment without this file is deleted and made again. If several runs need the same environment at the
same time, one run makes it, and the others wait.
"""

import argparse
import fcntl
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.processes import ending_on_signals
from vsebench.core.storage import write_json

COMPLETE = ".complete"  # its text is the name of the tool that made the environment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requirements", type=Path, required=True, help="requirements file, in the format of pip")
    parser.add_argument("--out", type=Path, required=True, help="environment.json to write into the new environment")


def run(arguments: argparse.Namespace) -> None:
    named = arguments.out.parent
    folder = named.resolve() if named.is_symlink() else named  # runs with folders of their own share environments
    complete = folder / COMPLETE
    with ending_on_signals(), locked(folder):
        if not complete.is_file():
            make(folder, arguments.requirements)
        maker = complete.read_text(encoding="utf-8")
    write_json({"python": platform.python_version(), "made_by": maker}, arguments.out)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let only one process at a time run the `with` block for a folder.

    A process that is killed gives up its lock.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def make(folder: Path, requirements: Path) -> None:
    """Make the environment anew; if this fails, delete it."""
    shutil.rmtree(folder, ignore_errors=True)
    maker = "uv" if shutil.which("uv") else "pip"
    try:
        for command in commands(maker, folder, requirements):
            print(*command, flush=True)
            call(command, requirements)
        (folder / COMPLETE).write_text(maker, encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def commands(maker: str, folder: Path, requirements: Path) -> list[list[str]]:
    """Return the commands that make the environment with uv or pip."""
    python = str(folder / "bin" / "python")
    if maker == "uv":
        make = ["uv", "venv", "--python", sys.executable, str(folder)]
        return [make, ["uv", "pip", "install", "--python", python, "-r", str(requirements)]]
    make = [sys.executable, "-m", "venv", str(folder)]
    return [make, [python, "-m", "pip", "install", "--disable-pip-version-check", "-r", str(requirements)]]


def call(command: list[str], requirements: Path) -> None:
    """Run a command whose output goes to the log; if it fails, raise a `UserError`."""
    status = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
    if status:
        tool = "uv" if command[0] == "uv" else command[2]
        raise UserError(f"{requirements}: cannot make the environment: {tool} ended with status {status}; see above")
