"""Measure how much faster work is on more threads, and whether the results are the same, byte for byte.

The kinds of work are training, ranking and searching. In each repeat, a kind of work is done on 1, 2, 4, 8, ...
threads, up to the number of cores. Within each repeat, the speed-up is the time on one thread divided by the
time on several threads.
"""

import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import takewhile

import numpy as np
import polars as pl

from benchmarks.clock import CONDITIONS, Row, conditions, interleave, timed
from benchmarks.comparisons import model_to_rank_by
from benchmarks.contestants import AS_CONFIGURED, ENS, IALS, OPT_AUC_PLAIN, VSE_FS, Contestant, Ours
from benchmarks.data import Data, hold_out, simulate
from benchmarks.feature_rows import dense_rows
from benchmarks.neighbour_search import search_by_all
from benchmarks.plan import Plan
from vsebench.core.workers import Workers, workers
from vsebench.data.problem import Dataset
from vsebench.evaluation.ranking import rank
from vsebench.methods.by_features.neighbours import Search
from vsebench.models import Embeddings

SCHEMA = {
    "size": pl.String,
    "work": pl.String,
    "threads": pl.Int32,
    "seconds": pl.Float64,  # the median over the repeats
    "speedup": pl.Float64,  # seconds on one thread divided by these seconds; the median over the repeats
    "same": pl.Boolean,  # whether the results are the same bytes as on one thread
    **CONDITIONS,
}
# What is done in each turn, and a function that returns the bytes of the result.
Turn = tuple[Callable[[], object], Callable[[], list[bytes]]]
Work = Callable[[Workers], Turn]


def measure(plan: Plan) -> pl.DataFrame:
    """Measure all kinds of work on all numbers of threads."""
    rows: list[Row] = []
    data = hold_out(plan.memory, Dataset(simulate(plan.memory, plan.scale)), plan.images)
    for size, name, work in works(plan, data):
        print(name, flush=True)
        rows += compare({"size": size, "work": name}, work, plan)
    return pl.DataFrame(rows, schema=SCHEMA)


def counts(cores: int) -> list[int]:
    """Return the powers of 2 below the number of cores, and then the number of cores itself."""
    return [*takewhile(lambda count: count < cores, (2**power for power in range(cores))), cores]


def works(plan: Plan, data: Data) -> Iterator[tuple[str, str, Work]]:
    """Yield the kinds of work: the name of the data, the name of the work, and the work."""
    parts = max(2, *plan.threads)
    for contestant, what in ((VSE_FS, "VSE-fs, an iteration"), (IALS, "iALS, an iteration")):
        yield data.name, what, partial(training, contestant, data, plan)
    for plain in (OPT_AUC_PLAIN, ENS):
        start = partial(Ours, plain.name.removesuffix("_plain"), {"parts": parts})
        in_parts = Contestant(f"{plain.name}_parts", plain.title, start, AS_CONFIGURED)
        yield data.name, f"{plain.title}, an epoch in {parts} parts", partial(training, in_parts, data, plan)
    yield data.name, "ranking the test labels", partial(ranking, model_to_rank_by(data, plan), data)
    yield "dense rows", "exact neighbours", partial(searching, plan)


def training(contestant: Contestant, data: Data, plan: Plan, pool: Workers) -> Turn:
    """Train for an epoch in each turn; the result is the model after the last turn."""
    own = contestant.start(data.known, contestant.grid[0] | {"factors": plan.factors}, pool)
    return own.epoch, lambda: [array.tobytes() for array in vars(own.model()).values()]


def ranking(model: Embeddings, data: Data, pool: Workers) -> Turn:
    """Rank the test labels in each turn."""
    turn = partial(rank, model, data.test, None, pool, "benchmark")
    return turn, lambda: [column.to_numpy().tobytes() for column in turn()]


def searching(plan: Plan, pool: Workers) -> Turn:
    """Search for the nearest rows of all queries in each turn."""
    searched = dense_rows(plan)
    k = min(plan.on_features.neighbours, searched.rows.shape[0])
    turn = partial(search_by_all, Search(searched.rows, "cosine"), searched, k, pool)
    return turn, lambda: [np.asarray(turn()).tobytes()]


def compare(keys: Row, work: Work, plan: Plan) -> list[Row]:
    """Do a kind of work on all numbers of threads in each repeat; return a row for each number."""
    with ExitStack() as stack:
        pools = [stack.enter_context(workers(count)) for count in counts(max(plan.threads))]
        pairs = [work(pool) for pool in pools]
        seconds = interleave([timed(turn) for turn, _ in pairs], plan.repeats)
        results = [result() for _, result in pairs]
    alone = seconds[0]
    return [
        keys
        | {
            "threads": pool.threads,
            "seconds": statistics.median(own),
            "speedup": statistics.median(first / each for first, each in zip(alone, own, strict=True)),
            "same": result == results[0],
        }
        | conditions(plan.repeats)
        for pool, own, result in zip(pools, seconds, results, strict=True)
    ]
