"""What a run does beside its jobs: clean up before them, report the time left, and list results or failures at the end.

The Snakefile calls these functions with Snakemake's objects; nothing else in the package knows Snakemake.
"""

import logging
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol, TextIO

from vsebench.core.errors import UserError
from vsebench.core.modules import PACKAGE
from vsebench.core.sources import sources_of
from vsebench.rendering.outline import read_outline

PAUSE = 15.0  # seconds between two messages about the time left, and before the first one


def discard_leftovers() -> None:
    """Delete the temporary files of runs that were killed; their names contain the id of the process."""
    for folder in ("data", "results", "figures"):
        for path in Path(folder).rglob(".*.tmp.*"):
            process = path.name.rpartition(".tmp")[0].rpartition(".")[2]
            # Another run may be active in this folder: Snakemake allows it if the two make different files.
            if not is_running(process):
                path.unlink(missing_ok=True)


def is_running(process: str) -> bool:
    """Return whether a process with this id exists; a text that is no id names none."""
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True  # a process of another user
    return True


def discard_stale_kernels() -> None:
    """Delete compiled kernels that are older than a source file behind them.

    numba compares a kernel with its own file alone, and not with those of the functions that are compiled into it. It
    also writes the index of its cache before the code, so where it is killed in between, or another process reads at
    that moment, the old code would pass for that of the edited source.
    """
    for compiled in PACKAGE.rglob("__pycache__/*.nbc"):
        source = compiled.parent.parent / f"{compiled.name.partition('.')[0]}.py"
        name = ".".join(source.relative_to(PACKAGE.parent).with_suffix("").parts)
        # Another run may do the same at this moment, and the source may be gone.
        with suppress(FileNotFoundError):
            newest = max(path.stat().st_mtime for path in sources_of(name))
            if compiled.stat().st_mtime < newest:
                compiled.unlink()


def warn_about_other_run(configuration: str) -> None:
    """Warn if results/ holds files of a run with another configuration, which this run leaves where they are.

    Parameters
    ----------
    configuration : the name of this run's configuration
    """
    with suppress(UserError):
        other = read_outline(Path("results/outline.json")).configuration
        if other != configuration:
            print(
                f"results/ has files of a run of {other or 'another configuration'}. This run of {configuration} makes"
                " its own anew, and leaves what it does not make itself. To keep runs apart, give each a folder of its"
                " own (--directory).",
                file=sys.stderr,
            )


def lift_default_rate(scheduler: Any) -> None:
    """Drop Snakemake's default limit of 100 jobs per second from its scheduler; any other limit stays.

    To obey a limit, Snakemake 9.27 starts a timer each time it has looked for jobs to start. When the timer ends it
    looks again, and so on, in addition to the look after each job. So after a hundred jobs it looks a hundred times per
    second, at every input of every job that waits, which keeps a core busy. No option turns the limit off.
    """
    limiter = scheduler.job_rate_limiter
    if limiter and (limiter.max_jobs, limiter.timespan) == (100, 1):
        scheduler.job_rate_limiter = None


class Rule(Protocol):
    """A rule of Snakemake."""

    name: str


class Job(Protocol):
    """A job of Snakemake."""

    rule: Rule
    wildcards_dict: Mapping[str, str]
    log: Iterable[str]


def print_failures(jobs: Iterable[Job]) -> None:
    """List the failed jobs and their logs at the end of a run, below the messages of later jobs."""
    failed = sorted(jobs, key=str)
    if failed:
        print(
            "\nFailed. The other jobs' results are kept; run the same command again to continue:",
            file=sys.stderr,
        )
    for job in failed:
        where = ", ".join(f"{key} {value}" for key, value in job.wildcards_dict.items())
        print(f"  {job.rule.name}: {where}", file=sys.stderr)
        for path in job.log:
            print(f"    {path}: {last_line(Path(path))}", file=sys.stderr)


def last_line(path: Path) -> str:
    """Return the last line of a log, which in a traceback names the error."""
    text = path.read_text(errors="replace").strip() if path.is_file() else ""
    return text.splitlines()[-1] if text else "(empty)"


def print_results(made: Collection[str], tables: int, figures: int) -> None:
    """Say where the results are, after a run that made the report.

    Parameters
    ----------
    made : the paths of all files that the run's jobs have made
    tables, figures : how many of each the run has
    """
    if "results/report.html" not in made:
        return
    print("\nDone. Open results/report.html in a browser: it shows every table and figure.")
    print(f"  {tables} tables as csv, md and tex: results/tables/")
    print(f"  {figures} figures as pdf, svg and png: figures/")
    print("  numbers: results/metrics.parquet, results/summary.parquet, results/timing.parquet")


class TimeLeft(logging.Handler):
    """Listens to Snakemake's messages about jobs, and reports now and then about how long the rest will take.

    A job is expected to take as long as the finished jobs of its rule took on average in this run, or, before the first
    of them has ended, as long as those of all rules.

    Parameters
    ----------
    cores : how many jobs run at once
    alone : the rules whose jobs run exclusively
    clock : returns the time in seconds
    out : where to write; standard error without it
    """

    def __init__(
        self,
        cores: int,
        alone: Collection[str],
        clock: Callable[[], float] = time.monotonic,
        out: TextIO | None = None,
    ) -> None:
        super().__init__()
        self.cores, self.alone, self.clock, self.out = cores, alone, clock, out
        self.left: dict[str, int] = {}  # rule -> its jobs that have not ended
        self.running: dict[int, tuple[str, float]] = {}  # job -> rule and when it began
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)  # rule -> of its finished jobs
        self.last = self.clock()

    def emit(self, record: logging.LogRecord) -> None:
        """Take notice of a message about jobs; ignore any other."""
        message = vars(record)
        match getattr(message.get("event"), "value", None):
            case "run_info":
                self.left = {rule: number for rule, number in message["stats"].items() if rule != "total"}
                self.last = self.clock()
            case "job_info":
                self.running[message["jobid"]] = message["rule_name"], self.clock()
            case "job_finished" if message["job_id"] in self.running:
                rule, start = self.running.pop(message["job_id"])
                self.seconds[rule].append(self.clock() - start)
                self.left[rule] = max(0, self.left.get(rule, 0) - 1)
                if self.clock() - self.last >= PAUSE and any(self.left.values()):
                    self.last = self.clock()
                    print(f"{in_words(self.remaining())} to go", file=self.out or sys.stderr, flush=True)

    def remaining(self) -> float:
        """Return the seconds that the jobs which have not ended are expected to take; 0 before the first has ended."""
        average = fmean([second for seconds in self.seconds.values() for second in seconds] or [0.0])
        return sum(
            number * fmean(self.seconds.get(rule) or [average]) / (1 if rule in self.alone else self.cores)
            for rule, number in self.left.items()
        )


def in_words(seconds: float) -> str:
    """Return a rough number of seconds in words.

    >>> in_words(8), in_words(47), in_words(130), in_words(4000)
    ('less than 10 s', 'about 50 s', 'about 2 min', 'about 1 h 7 min')
    """
    if seconds < 10:
        return "less than 10 s"
    if seconds < 95:
        return f"about {round(seconds / 10) * 10} s"
    minutes = round(seconds / 60)
    return f"about {minutes} min" if minutes < 60 else f"about {minutes // 60} h {minutes % 60} min"
