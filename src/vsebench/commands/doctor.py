"""Look at Python, packages, cores, memory, disk, mirror and cache, and say what is missing and how to mend it.

Prints one line for each and writes nothing. The exit status is 1 if something that every run needs is missing.
"""

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from re import match

from vsebench.core.errors import UserError
from vsebench.core.machine import processor

OLDEST_PYTHON = (3, 11)
GIGABYTE = 10**9
LEAST_DISK = 2 * GIGABYTE  # free
OPTIONAL = {
    "onnxruntime": "make setup-images",
    "pillow": "make setup-images",
    "implicit": "make setup-peers",
    "lightfm-next": "make setup-peers",
    "cornac": "make setup-peers",
}


@dataclass(frozen=True)
class Finding:
    """What was looked at and found; `remedy` says what to do, and is empty if nothing is to be done."""

    name: str
    found: str
    remedy: str = ""
    needed: bool = False  # by every run

    @property
    def mark(self) -> str:
        """Return ok, "-" for what only some runs need, or MISSING."""
        if not self.remedy:
            return "ok"
        return "MISSING" if self.needed else "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments: there are none."""


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    findings = [*_machine(), *_folders(), *_needed_packages(), *_optional_packages()]
    for one in findings:
        print(f"{one.mark:8}{one.name:20}{one.found}" + (f"; {one.remedy}" if one.remedy else ""))
    missing = [one.name for one in findings if one.mark == "MISSING"]
    if missing:
        raise UserError(f"missing: {', '.join(missing)}; the lines above say what to do")


def _machine() -> Iterator[Finding]:
    wanted = ".".join(map(str, OLDEST_PYTHON))
    remedy = "" if sys.version_info >= OLDEST_PYTHON else f"install Python {wanted} or newer"
    yield Finding("Python", platform.python_version(), remedy, needed=True)
    yield Finding("cores", f"{os.cpu_count()} ({processor()})")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    yield Finding("memory", f"{memory / GIGABYTE:.1f} GB")


def _folders() -> Iterator[Finding]:
    here = Path.cwd()
    free = shutil.disk_usage(here).free
    remedy = "" if free >= LEAST_DISK else f"free {LEAST_DISK / GIGABYTE:.0f} GB for data and results"
    yield Finding("free disk", f"{free / GIGABYTE:.1f} GB in {here}", remedy, needed=True)
    remedy = "" if os.access(here, os.W_OK) else "run in a folder that you may write to"
    yield Finding("this folder", "can be written to" if not remedy else "cannot be written to", remedy, needed=True)
    yield _mirror(os.environ.get("VSEBENCH_MIRROR"))
    cache = _cache()
    remedy = (
        "" if _can_write(cache) else "set NUMBA_CACHE_DIR to a folder that you may write to, or kernels compile anew"
    )
    yield Finding("cache of kernels", str(cache), remedy)


def _mirror(name: str | None) -> Finding:
    if not name:
        remedy = "set VSEBENCH_MIRROR to a folder with archives, if you have some; else they are downloaded"
        return Finding("mirror", "none", remedy)
    remedy = "" if Path(name).is_dir() else "there is no such folder; correct VSEBENCH_MIRROR or unset it"
    return Finding("mirror", name, remedy, needed=True)


def _cache() -> Path:
    return Path(os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parents[1] / "kernels" / "__pycache__")


def _can_write(folder: Path) -> bool:
    """Return whether files can be written to a folder, or to the one that it would be made in."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return os.access(there, os.W_OK)


def _needed_packages() -> Iterator[Finding]:
    for requirement in requires("vsebench") or []:
        if "extra ==" not in requirement:
            yield _package(requirement, "install the packages again (`make setup`, or pip install)", needed=True)


def _optional_packages() -> Iterator[Finding]:
    for name, command in OPTIONAL.items():
        yield _package(name, f"`{command}` installs it, for the rows and commands that use it", needed=False)


def _package(requirement: str, remedy: str, needed: bool) -> Finding:
    """Look a package up by its requirement, such as "numpy>=2.4"."""
    found = match(r"[\w.-]+", requirement)
    name = found.group() if found else requirement
    try:
        return Finding(name, version(name), needed=needed)
    except PackageNotFoundError:
        return Finding(name, "not installed", remedy, needed)
