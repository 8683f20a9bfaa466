"""Describe the machine and its software, and measure how much memory and how many cores processes use."""

import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("vsebench", "snakemake", "numpy", "numba", "llvmlite", "polars", "matplotlib", "seaborn")


def describe() -> dict[str, Any]:
    """Return a description of the machine, the versions of packages, and the git commit of the source code.

    The machine is described by its processor, number of cores, memory in bytes, and system.
    """
    return {
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        "git_commit": git_commit(),
    }


def processor() -> str:
    """Return the processor's name, or its architecture if the system does not report the name."""
    lines = _lines_of("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def peak_memory_bytes() -> int:
    """Return the peak memory of this process so far, in bytes.

    On Linux this is VmHWM of /proc/self/status. Elsewhere it is getrusage's ru_maxrss, which can be too high because it
    includes the memory of the parent process.
    """
    peak = _status_bytes("VmHWM")
    if peak is None:
        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak = size if sys.platform == "darwin" else size * 1024
    return peak


def peak_memory_of(process: int) -> int | None:
    """Return the peak memory of another process so far, in bytes.

    The result is None if that process has ended, or if the system has no /proc.
    """
    return _status_bytes("VmHWM", str(process))


def memory_limit() -> int:
    """Return the largest memory that this process can use, in bytes.

    It is the machine's memory or, if smaller, the limit of the process (`ulimit -v`) or of its control group.
    """
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), resource.getrlimit(resource.RLIMIT_AS)[0]]
    limits += [int(line) for line in _lines_of("/sys/fs/cgroup/memory.max") if line.isdecimal()]
    return min(limit for limit in limits if limit != resource.RLIM_INFINITY)


def memory_bytes() -> int | None:
    """Return the memory that this process uses now, in bytes; None if the system has no /proc/self/status."""
    return _status_bytes("VmRSS")


def _status_bytes(key: str, process: str = "self") -> int | None:
    lines = _lines_of(f"/proc/{process}/status")
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:")), None)


def _lines_of(path: str) -> list[str]:
    """Return the lines of a system file; an empty list if the system has no such file."""
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


class OtherProcesses:
    """Measures how many cores other processes have used since this object was created."""

    def __init__(self) -> None:
        self._start = self._times()

    def cores(self) -> float | None:
        """Return the mean number of cores used by other processes; None if there is no /proc/stat."""
        now = self._times()
        if self._start is None or now is None or now[0] <= self._start[0]:
            return None
        seconds, busy, own = (after - before for after, before in zip(now, self._start, strict=True))
        return max(0.0, busy - own) / seconds

    @staticmethod
    def _times() -> tuple[float, float, float] | None:
        """Return the current time, the processor time of all processes, and the processor time of this process.

        All three are in seconds. The result is None if the system has no /proc/stat.
        """
        lines = _lines_of("/proc/stat")
        if not lines:
            return None
        user, nice, system, _, _, interrupts, soft, stolen = map(int, lines[0].split()[1:9])
        ticks = user + nice + system + interrupts + soft + stolen
        return time.monotonic(), ticks / os.sysconf("SC_CLK_TCK"), time.process_time()


def git_commit() -> str:
    """Return the commit of the source code, or "unknown" outside a git repository.

    If the code was changed after this commit, "-dirty" is appended. The code counts as changed if a tracked file of the
    repository was changed, or if the package has an untracked file.
    """
    package = Path(__file__).parents[1]
    try:
        described = _git(package, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
        changes = _git(package, "status", "--porcelain", "--untracked-files=all", "--", ".")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{described}-dirty" if changes and not described.endswith("-dirty") else described


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
