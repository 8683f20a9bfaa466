"""Make a folder with the workflow, its configurations and the included data, and do a short run there.

The folder also contains all that later runs need: `vsebench run` in the folder starts the default run.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

from vsebench.core.errors import UserError
from vsebench.core.modules import project
from vsebench.core.storage import check_folder

CONFIGURATION = "config/demo.yaml"
# The files and folders to copy.
PARTS = (
    "Snakefile", "workflow", "profiles", "config", "data/included", "docs/examples", "docs/templates/variant",
    "docs/templates/variant.txt",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder to make; it must be new or empty")
    parser.add_argument("--cores", default="all", help="number of cores (default: all)")


def run(arguments: argparse.Namespace) -> NoReturn:
    """Copy the parts of the project that a run needs, then replace this process with the run."""
    folder: Path = arguments.folder
    check_cores(arguments.cores)
    copy_project(folder)
    print(f"made {folder}; to repeat the run, type: cd {folder} && vsebench run {CONFIGURATION}", flush=True)
    os.chdir(folder)
    command = [sys.executable, "-m", "vsebench", "run", CONFIGURATION, "--cores", arguments.cores]
    os.execv(sys.executable, command)


def check_cores(cores: str) -> None:
    """Raise a `UserError`, before a folder is made, if the run would refuse this number of cores."""
    if cores != "all" and not (cores.isdecimal() and int(cores) > 0):
        raise UserError(f"--cores {cores}: must be 1 or more, or all")


def copy_project(folder: Path) -> None:
    """Copy the parts of the project that a run needs into a new or empty folder."""
    check_folder(folder)
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise UserError(f"{folder}: exists and is not an empty folder; name another one")
    for part in PARTS:
        source, target = project() / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, target)
