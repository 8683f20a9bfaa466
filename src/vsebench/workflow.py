"""Hooks of a run: clean up at the start, report progress, and list the results or failures at the end.

The Snakefile calls these functions with Snakemake's objects; no other module of the package uses Snakemake.
"""

import logging
import os
import re
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from typing import Any, TextIO

from vsebench.core.errors import EMPTY, UserError, last_line, path_from_start, seen_from_start
from vsebench.core.modules import PACKAGE
from vsebench.core.sources import content_hash
from vsebench.rendering.outline import read_outline

PAUSE = 15.0  # seconds between two lines about the state of the run, and before the first one
# Snakemake's events whose messages `Progress` replaces.
REPLACED = ("run_info", "job_started", "job_finished", "progress", "resources_info")
# The beginnings of Snakemake's other messages that are of no use to a user.
NEEDLESS = (
    "Assuming unrestricted shared filesystem usage",
    "Building DAG of jobs",
    "Complete log(s)",
    "Select jobs to execute",
    "Using shell",
)
# The beginnings of Snakemake's messages about failed jobs, which `print_failures` lists with the ends of their logs.
REPEATED = (
    "RuleException:\nCalledProcessError in file",
    "Exiting because a job execution failed",
    "WorkflowError:\nAt least one job did not complete successfully",
)
# The end of Snakemake's message if the system refuses to write or delete a file (the message can begin with a
# traceback), and its message about write-protected outputs.
REFUSED = re.compile(
    r"^(?:OSError|PermissionError): \[Errno \d+\] (?P<reason>.+): '(?P<refused>.+)'\s*\Z"
    r"|^Write-protected output files for rule (?:.*\n)*? +affected files:\n +(?P<protected>.+)$",
    re.MULTILINE,
)
FULL = 16 << 20  # a disk with fewer free bytes is called full
CLEAR = "\r\x1b[K"  # on a terminal: go to the start of the line and delete it


def discard_leftovers() -> None:
    """Delete temporary files and folders whose names contain the id of a process that no longer runs."""
    for folder in ("data", "results", "figures"):
        for path in list(Path(folder).rglob(".*.tmp.*")):
            process = path.name.rpartition(".tmp")[0].rpartition(".")[2]
            # Another run may be active here: Snakemake allows two runs in a folder if they make different files.
            if is_running(process):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def is_running(process: str) -> bool:
    """Return whether a process with this id exists; False for text that is not an id."""
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True  # it is a process of another user
    return True


def delete_old_kernels() -> None:
    """Delete compiled kernels that numba no longer uses, because their source files have changed."""
    for compiled in PACKAGE.rglob("__pycache__/*.nb[ci]"):
        file = compiled.parent.parent / f"{compiled.name.partition('.')[0]}.py"
        if not (file.is_file() and f"-{content_hash(file)}." in compiled.name):
            compiled.unlink(missing_ok=True)  # another run may delete it at the same moment


def discard_of_other_run(tables: Collection[str], figures: Collection[str]) -> None:
    """Delete an earlier run's tables and figures that this run does not make.

    Logs show which files jobs have made. Other files, such as a user's own figure, stay.

    tables, figures : the names of the tables and figures that this run makes
    """
    for kind, kept, folder in (("table", tables, "results/tables"), ("figure", figures, "figures")):
        for log in Path("results/logs", kind).glob("*.log"):
            if log.stem not in kept:
                for path in Path(folder).glob(f"{log.stem}.*"):
                    path.unlink(missing_ok=True)
                log.unlink(missing_ok=True)


def warn_about_other_run(configuration: str) -> None:
    """Warn if results/ has files of a run of another configuration, and say what will happen to them."""
    with suppress(UserError):
        other = read_outline(Path("results/outline.json")).configuration
        if other != configuration:
            print(
                f"{from_start('results/')} has files of a run of {other or 'another configuration'}. This run of"
                f" {configuration} replaces the files that both runs make, deletes tables and figures that only the"
                " other run makes, and keeps the other run's models and metrics. To separate runs, give each run its"
                " own folder (make OUT=FOLDER).",
                file=sys.stderr,
            )


def lift_default_rate(scheduler: Any) -> None:
    """Remove Snakemake's default limit of 100 jobs per second from its scheduler; any other limit stays.

    To enforce a limit, Snakemake 9.27 looks for jobs to start not only after each job, but also whenever a timer ends.
    After a hundred jobs it checks all inputs of all waiting jobs a hundred times per second, which keeps a core busy.
    No option turns this limit off.
    """
    limiter = scheduler.job_rate_limiter
    if limiter and (limiter.max_jobs, limiter.timespan) == (100, 1):
        scheduler.job_rate_limiter = None


def print_failures(jobs: Iterable[Any]) -> None:
    """List the failed jobs (Snakemake's objects) and their logs at the end of a run, below all other messages.

    If the logs of several jobs of a rule end in the same line, these jobs share one entry, which states their number.
    """
    failed = sorted(jobs, key=str)
    if failed:
        print("\nFailed jobs (all other results are kept; run the same command again to continue):", file=sys.stderr)
    alike: dict[tuple[str, ...], list[Any]] = {}
    for job in failed:
        lines = [last_line(Path(path)) for path in job.log]
        alone = [str(job)] if EMPTY in lines else []  # nothing says that the reason is the same
        alike.setdefault((job.rule.name, *lines, *alone), []).append(job)
    for (rule, *lines), (first, *others) in alike.items():
        wildcards = ", ".join(f"{key} {value}" for key, value in first.wildcards_dict.items())
        more = f", and {len(others)} more for the same reason" if others else ""
        print(f"  {rule}: {wildcards}{more}", file=sys.stderr)
        for path, line in zip(first.log, lines, strict=False):
            print(f"    {from_start(path)}: {seen_from_start(line, Path.cwd())}", file=sys.stderr)
    if failed and (free := shutil.disk_usage(".").free) < FULL:
        print(f"  The disk is full: {free >> 20} MiB are free. Make space first.", file=sys.stderr)


def print_results(made: Collection[str], tables: int, figures: int) -> None:
    """Print where the results are, and how many tables and figures there are.

    Nothing is printed if the report is not among the files that the run has `made`.
    """
    if "results/report.html" not in made:
        return
    numbers = ", ".join(from_start(f"results/{name}.parquet") for name in ("metrics", "summary", "timing"))
    print(f"\nDone. Open {from_start('results/report.html')} in a browser: it shows every table and figure.")
    print(f"  {tables} tables as csv, md and tex: {from_start('results/tables/')}")
    print(f"  {figures} figures as pdf, svg and png: {from_start('figures/')}")
    print(f"  numbers: {numbers}")


def from_start(path: str) -> str:
    """Convert a path relative to the run's folder to a path relative to the folder where the run was started."""
    return path_from_start(path, Path.cwd()) + ("/" if path.endswith("/") else "")


class Progress(logging.Handler):
    """A handler of Snakemake's messages about jobs; it prints how many jobs have ended and how long the rest will take.

    A job is expected to take the mean time of the finished jobs of its rule in this run or, if this rule has none yet,
    the mean time of all finished jobs. On a terminal, the line of progress is rewritten in place after each job, and
    the path of each finished table is printed above this line. Elsewhere, a new line is printed from time to time.

    Parameters
    ----------
    cores : number of jobs that run at once
    alone : the rules whose jobs run while no other job runs
    clock : a function that returns the time in seconds
    out : the stream to write to; None for standard error
    """

    def __init__(
        self,
        cores: int,
        alone: Collection[str],
        clock: Callable[[], float] = time.monotonic,
        out: TextIO | None = None,
    ) -> None:
        super().__init__()
        self.cores, self.alone, self.clock, self.out = cores, alone, clock, out or sys.stderr
        self.left: dict[str, int] = {}  # rule -> number of its jobs that have not ended
        self.total = 0  # number of all jobs of the run
        self.running: dict[int, tuple[str, float, str]] = {}  # job -> its rule, start time and first output file
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)  # rule -> durations of its finished jobs
        self.last = self.clock()

    def emit(self, record: logging.LogRecord) -> None:
        """Handle a message about jobs; ignore all other messages."""
        message = vars(record)
        match getattr(message.get("event"), "value", None):
            case "run_info":
                self.left = {rule: number for rule, number in message["stats"].items() if rule != "total"}
                self.total = sum(self.left.values())
                self.last = self.clock()
            case "job_info":
                first = str(next(iter(message.get("output") or ()), ""))
                self.running[message["jobid"]] = message["rule_name"], self.clock(), first
            case "job_finished" if message["job_id"] in self.running:
                rule, start, first = self.running.pop(message["job_id"])
                self.seconds[rule].append(self.clock() - start)
                self.left[rule] = max(0, self.left.get(rule, 0) - 1)
                self.show(first if rule == "table" else None)

    def show(self, table: str | None) -> None:
        """Print how far the run has got and, on a terminal, the path `table` of a table that has just been made."""
        terminal, left = self.out.isatty(), sum(self.left.values())
        due = terminal or self.clock() - self.last >= PAUSE
        if table and terminal:
            self.out.write(f"{CLEAR}{table}\n")
        if due and left:
            self.last = self.clock()
            text = f"{self.total - left} of {self.total} jobs, {in_words(self.remaining())} to go"
            # The cursor stays at the start of the line, so that the next message overwrites it.
            self.out.write(f"{CLEAR}{text}\r" if terminal else f"{text}\n")
        elif terminal:
            self.out.write(CLEAR)
        self.out.flush()

    def remaining(self) -> float:
        """Return the expected number of seconds until all jobs have ended, or 0 if no job has ended yet."""
        average = fmean([second for seconds in self.seconds.values() for second in seconds] or [0.0])
        return sum(
            number * fmean(self.seconds.get(rule) or [average]) / (1 if rule in self.alone else self.cores)
            for rule, number in self.left.items()
        )


class OnlyProgress(logging.Filter):
    """A filter of Snakemake's logger; it hands each message to `Progress` and drops those that `Progress` replaces.

    Messages that are of no use to a user are dropped, too. Warnings and errors stay, except those that `print_failures`
    also reports.

    Snakemake's option `--quiet progress` cannot replace this filter: Snakemake then does not log that jobs have ended.
    """

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress

    def filter(self, record: logging.LogRecord) -> bool:
        self.progress.emit(record)
        if REFUSED.search(str(record.msg)):
            record.msg = in_one_line(str(record.msg))
        event = getattr(vars(record).get("event"), "value", None)
        dropped = event in REPLACED or str(record.msg).startswith(NEEDLESS)
        return (record.levelno >= logging.WARNING or not dropped) and not is_repeated(str(record.msg))


def in_one_line(message: str) -> str:
    """Return a line that replaces Snakemake's message about a file that it cannot write or delete (see `REFUSED`)."""
    found = REFUSED.search(message)
    assert found is not None
    path = found["refused"] or found["protected"]
    reason = found["reason"] or "it is write-protected"
    return f"vsebench: {from_start(path)}: cannot be written: {reason}; when this is fixed, run the same command again"


def is_repeated(message: str) -> bool:
    """Return whether `print_failures` also reports what a message of Snakemake says.

    The result is False for a message that states an exit status other than 1 and 137, because the job's log may then
    not tell the cause. The status 137 means that the job was killed (see workflow/job.sh).
    """
    told = message.strip().endswith((" exit status 1.", " exit status 137.")) or "CalledProcessError" not in message
    return message.startswith(REPEATED) and told


def in_words(seconds: float) -> str:
    """Express a duration, given in seconds, approximately in words.

    >>> in_words(8), in_words(47), in_words(130), in_words(4000)
    ('less than 10 s', 'about 50 s', 'about 2 min', 'about 1 h 7 min')
    """
    if seconds < 10:
        return "less than 10 s"
    if seconds < 95:
        return f"about {round(seconds / 10) * 10} s"
    minutes = round(seconds / 60)
    return f"about {minutes} min" if minutes < 60 else f"about {minutes // 60} h {minutes % 60} min"
