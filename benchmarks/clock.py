"""Time contestants that take turns, and return comparisons as rows of a table."""

import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from vsebench.core.machine import processor

CONDITIONS = {
    "repeats": pl.Int32,
    "load": pl.Float64,  # mean number of running or waiting processes in the last minute, including this one
    "machine": pl.String,
}
SCHEMA = {
    "what": pl.String,
    "size": pl.String,
    "threads": pl.Int32,
    "ours": pl.String,
    "peer": pl.String,
    "seconds_ours": pl.Float64,
    "seconds_peer": pl.Float64,
    "ratio_median": pl.Float64,
    "ratio_min": pl.Float64,
    "ratio_max": pl.Float64,
    "quality_ours": pl.Float64,
    "quality_peer": pl.Float64,
    **CONDITIONS,
}
KEYS = ["what", "size", "threads", "ours", "peer"]
PAUSE = 0.02  # seconds; after their work, OpenMP's threads wait actively and would slow down the next contestant

Row = dict[str, Any]


def interleave(turns: Sequence[Callable[[], float]], repeats: int, warm_up: bool = True) -> list[list[float]]:
    """Return, for each contestant, the list of its seconds in all repeats.

    Each contestant has one turn per repeat. The order of the turns is reversed in every second repeat. With `warm_up`,
    each contestant first has a turn that is not counted.
    """
    seconds: list[list[float]] = [[] for _ in turns]
    if warm_up:
        for turn in turns:
            turn()
    for repeat in range(repeats):
        order = range(len(turns)) if repeat % 2 == 0 else reversed(range(len(turns)))
        for contestant in order:
            time.sleep(PAUSE)
            seconds[contestant].append(turns[contestant]())
    return seconds


def named(number: int, what: str) -> str:
    """Return a number followed by the noun `what`, in the plural unless the number is 1."""
    return f"{number} {what}" + ("" if number == 1 else "s")


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> Callable[[], float]:
    """Return a turn: a function that does the work and returns the seconds that the work took by the clock."""

    def turn() -> float:
        start = clock()
        work()
        return clock() - start

    return turn


def clock_for(threads: int) -> Callable[[], float]:
    """Return the clock for work on a number of threads.

    For one thread, the clock measures processor time, which a busy machine affects less than wall time. For several
    threads, it measures wall time.
    """
    return time.process_time if threads == 1 else time.perf_counter


def comparison(
    keys: Row, ours: Sequence[float], peer: Sequence[float], quality: tuple[float, float] | None = None
) -> Row:
    """Return a row that compares the seconds of our contestant and of a peer.

    The row has the median seconds of each contestant. It also has the median, the minimum and the maximum of the ratio
    peer / ours over the repeats. `keys` contains the values of the columns KEYS. If the quality was measured, `quality`
    contains ours and the peer's.
    """
    ratios = [seconds_peer / seconds_ours for seconds_ours, seconds_peer in zip(ours, peer, strict=True)]
    return keys | {
        "seconds_ours": statistics.median(ours),
        "seconds_peer": statistics.median(peer),
        "ratio_median": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "quality_ours": quality[0] if quality else None,
        "quality_peer": quality[1] if quality else None,
        **conditions(len(ratios)),
    }


def conditions(repeats: int) -> Row:
    """Return the values of the columns in `CONDITIONS` for a row that is measured now."""
    return {"repeats": repeats, "load": os.getloadavg()[0], "machine": processor()}
