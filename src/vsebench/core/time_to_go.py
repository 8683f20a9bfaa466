"""How long a run will still take, said while it runs.

Snakemake counts steps, of which one takes a second and another minutes. Here a step is expected to take as long as the
steps of its rule took so far in this run, or, before the first of them has ended, what `GUESSES` says.
"""

import logging
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection
from typing import TextIO

GUESSES = {  # seconds of a step, by its rule
    "fit": 3.0,
    "sweep": 4.0,
    "time_methods": 25.0,
    "scale": 40.0,
    "compile_kernels": 3.0,
    "compile_shared_kernels": 10.0,
    "images_from_words": 20.0,
    "test_claims": 5.0,
    "figure": 2.0,
    "report_page": 4.0,
}
OTHER = 1.0
PAUSE = 15.0  # seconds between two messages, and before the first one


class TimeToGo(logging.Handler):
    """Listens to Snakemake's messages about jobs, and says now and then how long the rest will take.

    Parameters
    ----------
    cores : how many jobs run at once
    alone : the rules beside whose jobs no other one runs
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
        self.left: dict[str, int] = {}
        self.running: dict[int, tuple[str, float]] = {}  # job -> rule and when it began
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)  # rule -> of its finished jobs
        self.last = self.clock()

    def emit(self, record: logging.LogRecord) -> None:
        """Take notice of a message of Snakemake's; others say nothing about jobs."""
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
                self._say()

    def remaining(self) -> float:
        """Return the seconds that the jobs which have not ended are expected to take."""
        seconds = 0.0
        for rule, number in self.left.items():
            measured = self.seconds.get(rule)
            each = sum(measured) / len(measured) if measured else GUESSES.get(rule, OTHER)
            seconds += number * each / (1 if rule in self.alone else self.cores)
        return seconds

    def _say(self) -> None:
        if self.clock() - self.last >= PAUSE and any(self.left.values()):
            self.last = self.clock()
            print(f"{in_words(self.remaining())} to go", file=self.out or sys.stderr, flush=True)


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
