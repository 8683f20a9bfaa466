"""Check Python, packages, cores, memory, disk, folders, mirror and cache, and report what is wrong and how to fix it.

The command prints one line per check. The exit status is 1 if something that every run needs is missing.
"""

import argparse
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement  # comes with Matplotlib

from vsebench.core.errors import UserError, without_password
from vsebench.core.machine import processor
from vsebench.core.modules import PACKAGE
from vsebench.formats.download.mirror import MIRROR, mirror

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
    "snakemake-executor-plugin-slurm": "make setup-cluster",
}
WRITTEN = ("data", "results", "figures")  # folders that a run writes to
TOOLS = {  # programs that only some runs need
    "git": "without it, results do not state the commit of the source code",
    "uv": "used only by methods with the key `environment`; without it, they use venv and pip",
    "conda": "needed only by methods with the key `conda`",
    "apptainer": "needed only by methods with the key `container`",
}


@dataclass(frozen=True)
class Finding:
    """The result of a check; `remedy` says how to fix what is wrong, and is empty if the check passed."""

    name: str
    result: str
    remedy: str = ""
    needed: bool = False  # whether every run needs what is checked

    @property
    def mark(self) -> str:
        """Return "ok" for a passed check, "MISSING" if something is missing that every run needs, and "-" otherwise."""
        if not self.remedy:
            return "ok"
        return "MISSING" if self.needed else "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(arguments: argparse.Namespace) -> None:
    findings = [*_machine(), _source(), *_folders(), *_packages(), *_tools()]
    for finding in findings:
        remedy = f"; {finding.remedy}" if finding.remedy else ""
        print(f"{finding.mark:8}{finding.name:33}{finding.result}{remedy}")
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


def _source() -> Finding:
    """Report which copy of the package is in use, and warn if the current folder contains another copy."""
    other = Path("src/vsebench").resolve()
    remedy = ""
    if other.is_dir() and other != PACKAGE.resolve():
        remedy = f"changes to {other} have no effect; run `make setup` here, or correct PYTHONPATH"
    return Finding("vsebench", f"{version('vsebench')} in {PACKAGE}", remedy)


def _folders() -> Iterator[Finding]:
    here = Path.cwd()
    free = shutil.disk_usage(here).free
    remedy = "" if free >= LEAST_DISK else f"make {LEAST_DISK / GIGABYTE:.0f} GB available for data and results"
    yield Finding("free disk", f"{free / GIGABYTE:.1f} GB in {here}", remedy, needed=True)
    yield _writable("this folder", here, "run in a writable folder")
    for name in WRITTEN:
        if os.path.lexists(here / name):  # also true for a link to a folder that no longer exists
            yield _writable(name, here / name, "change its permissions or its owner (chmod, chown), or move it away")
    yield _writable("temporary files", Path(tempfile.gettempdir()), "set TMPDIR to a writable folder")
    yield _mirror()
    cache = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parents[1] / "kernels" / "__pycache__")
    writable = "set NUMBA_CACHE_DIR to a writable folder, otherwise every run compiles the kernels again"
    remedy = "" if _can_write(cache) else writable
    yield Finding("cache of kernels", str(cache), remedy)


def _mirror() -> Finding:
    try:
        named = mirror()
    except UserError as error:
        return Finding("mirror", "wrong", str(error), needed=True)
    if named is None:
        remedy = (
            f"set {MIRROR} to a folder with archives of data, if you have one; otherwise the archives are downloaded"
        )
        return Finding("mirror", "none", remedy)
    if isinstance(named, str):
        return Finding("mirror", f"{without_password(named)} (an address, which is not checked here)")
    if not named.is_dir():
        return Finding("mirror", str(named), f"there is no such folder; correct {MIRROR} or unset it", needed=True)
    number = sum(path.is_file() for path in named.iterdir())
    remedy = "" if number else f"it contains no file; put the archives into it, or unset {MIRROR}"
    return Finding("mirror", f"{named}, {number} file{'' if number == 1 else 's'}", remedy)


def _writable(name: str, folder: Path, remedy: str) -> Finding:
    """Check that files can be written to a folder that every run needs."""
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return Finding(name, "is writable", needed=True)
    return Finding(name, f"{folder} is not a writable folder", remedy, needed=True)


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
    """Check that a package is installed in a version that fits a requirement, such as "numpy>=2.4"."""
    wanted = Requirement(requirement)
    try:
        found = version(wanted.name)
    except PackageNotFoundError:
        return Finding(wanted.name, "not installed", remedy, needed)
    if not wanted.specifier.contains(found, prereleases=True):
        return Finding(wanted.name, f"{found}, but {wanted.specifier} is needed", remedy, needed)
    return Finding(wanted.name, found, needed=needed)


def _tools() -> Iterator[Finding]:
    for name, remedy in TOOLS.items():
        path = shutil.which(name)
        yield Finding(name, path or "not installed", "" if path else remedy)
