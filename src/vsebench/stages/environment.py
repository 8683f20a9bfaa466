"""Make a virtual environment with the packages that a requirements file lists.

The stage uses uv if uv is on the PATH, otherwise venv and pip. It writes the record environment.json last. An
environment without this record is not complete, so it is deleted and made again.
"""

import argparse
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.processes import ending_on_signals
from vsebench.core.storage import write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requirements", type=Path, required=True, help="requirements file, in the format of pip")
    parser.add_argument("--out", type=Path, required=True, help="environment.json to write into the new environment")


def run(arguments: argparse.Namespace) -> None:
    named = arguments.out.parent
    folder = named.resolve() if named.is_symlink() else named  # runs with folders of their own share environments
    shutil.rmtree(folder, ignore_errors=True)
    maker = "uv" if shutil.which("uv") else "pip"
    try:
        with ending_on_signals():
            for command in commands(maker, folder, arguments.requirements):
                print(*command, flush=True)
                call(command, arguments.requirements)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    write_json({"python": platform.python_version(), "made_by": maker}, arguments.out)


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
