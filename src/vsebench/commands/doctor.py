"""Check Python, packages, cores, memory, disk, mirror and cache, and report what is missing and how to fix it.

The command prints one line per check. The exit status is 1 if something that every run needs is missing.
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
LEAST_DISK = 2 * GIGABYTE  # bytes of free space
OPTIONAL = {
    "onnxruntime": "make setup-images",
    "pillow": "make setup-images",
    "tokenizers": "make setup-images",
    "implicit": "make setup-peers",
    "irspack": "make setup-peers",
    "lightfm-next": "make setup-peers",
    "cornac": "make setup-peers",
}


@dataclass(frozen=True)
class Finding:
    """The result of a check; `remedy` tells the user how to fix a failed check, and is empty otherwise."""

    name: str
    result: str
    remedy: str = ""
    needed: bool = False  # whether every run needs what is checked

    @property
    def mark(self) -> str:
        """Return "ok", "MISSING" or, if only some runs need what is missing, "-"."""
        if not self.remedy:
            return "ok"
        return "MISSING" if self.needed else "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(arguments: argparse.Namespace) -> None:
    findings = [*_machine(), *_folders(), *_packages()]
    for finding in findings:
        remedy = f"; {finding.remedy}" if finding.remedy else ""
        print(f"{finding.mark:8}{finding.name:20}{finding.result}{remedy}")
    missing = [finding.name for finding in findings if finding.mark == "MISSING"]
    if missing:
        raise UserError(f"missing: {', '.join(missing)}; the lines above say what to do")


def _machine() -> Iterator[Finding]:
    oldest = ".".join(map(str, OLDEST_PYTHON))
    remedy = "" if sys.version_info >= OLDEST_PYTHON else f"install Python {oldest} or newer"
    yield Finding("Python", platform.python_version(), remedy, needed=True)
    yield Finding("cores", f"{os.cpu_count()} ({processor()})")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    yield Finding("memory", f"{memory / GIGABYTE:.1f} GB")


def _folders() -> Iterator[Finding]:
    here = Path.cwd()
    free = shutil.disk_usage(here).free
    remedy = "" if free >= LEAST_DISK else f"make {LEAST_DISK / GIGABYTE:.0f} GB available for data and results"
    yield Finding("free disk", f"{free / GIGABYTE:.1f} GB in {here}", remedy, needed=True)
    remedy = "" if os.access(here, os.W_OK) else "run in a writable folder"
    yield Finding("this folder", "is writable" if not remedy else "is not writable", remedy, needed=True)
    yield _mirror(os.environ.get("VSEBENCH_MIRROR"))
    cache = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parents[1] / "kernels" / "__pycache__")
    writable = "set NUMBA_CACHE_DIR to a writable folder, otherwise every run compiles the kernels again"
    remedy = "" if _can_write(cache) else writable
    yield Finding("cache of kernels", str(cache), remedy)


def _mirror(name: str | None) -> Finding:
    if not name:
        remedy = "set VSEBENCH_MIRROR to a folder with archives, if you have one; otherwise archives are downloaded"
        return Finding("mirror", "none", remedy)
    remedy = "" if Path(name).is_dir() else "there is no such folder; correct VSEBENCH_MIRROR or unset it"
    return Finding("mirror", name, remedy, needed=True)


def _can_write(folder: Path) -> bool:
    """Return whether a folder or, if it does not exist, its closest existing parent is writable."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return os.access(existing, os.W_OK)


def _packages() -> Iterator[Finding]:
    for requirement in requires("vsebench") or []:
        if "extra ==" not in requirement:
            yield _package(requirement, "install the packages again (`make setup`, or pip install)", needed=True)
    for name, command in OPTIONAL.items():
        yield _package(name, f"`{command}` installs it; only some methods and commands need it", needed=False)


def _package(requirement: str, remedy: str, needed: bool) -> Finding:
    """Check a package by its requirement, such as "numpy>=2.4"."""
    name_match = match(r"[\w.-]+", requirement)
    name = name_match.group() if name_match else requirement
    try:
        return Finding(name, version(name), needed=needed)
    except PackageNotFoundError:
        return Finding(name, "not installed", remedy, needed)
