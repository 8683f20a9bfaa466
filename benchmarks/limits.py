"""Measure how close VSE-fs comes to the machine's limits for operations, streamed memory and reads of random rows.

An iteration is an update of the images and an update of the labels. The updates and the machine's rates are measured in
turns, in the same process and on the same number of threads. An update needs at least the time of its slowest kind of
work, even if everything else happens at the same time. This time is the update's limit; the share of the limit is the
limit divided by the measured time of the update.

The following list shows the work of an iteration with N images, M labels, P pairs, K factors and numbers of four bytes.
Here u is an image's vector, v_c is the vector of label c, and beta_c is the weight of label c in all pairs that are not
positives. H^C is the sum of beta_c v_c v_c' over all labels.

  update of the images   3 N K^2 + 8 P K operations: the products H^C u, half of the sum of u u' (which is symmetric),
                         and four multiply-adds per pair and factor (score, slope, curvature, score after the step);
                         the image vectors are read once and written once;
                         three numbers per pair are read or written;
                         each pair reads two random rows of K numbers: the label's vector and its change
  update of the labels   3 M K^2 + 8 P K operations;
                         for each of the K / 16 blocks of factors, four numbers per pair are read, and one is written;
                         each pair reads a random image's vector, in blocks of 16 numbers
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.clock import CONDITIONS, Row, conditions, interleave, timed
from benchmarks.contestants import VSE_FS
from benchmarks.data import simulate
from benchmarks.plan import SEED, Plan
from vsebench.core.workers import Workers, workers
from vsebench.data.chunks import even_chunks
from vsebench.data.problem import LabelMatrix
from vsebench.kernels.vectors import FASTMATH, LANES, aligned, broadcast, load, prefetch, store

SCHEMA = {
    "size": pl.String,
    "threads": pl.Int32,
    "update": pl.String,  # the update of the images, that of the labels, or both
    "seconds": pl.Float64,
    "operations": pl.Float64,  # seconds that its operations take at the rate of a large product of matrices
    "streams": pl.Float64,  # seconds that its streams take at the rate at which memory is copied
    "rows": pl.Float64,  # seconds that its random rows take at the rate at which rows of the same array are read
    "share": pl.Float64,  # the limit (for both updates, the sum of their limits) divided by `seconds`
    **CONDITIONS,
}
SIDE = 2048  # side of the matrices whose product measures the rate of operations
DRAWS = 1 << 21  # number of random rows that are read to measure a rate
AHEAD = 32  # a row is requested this many rows before it is read


class Work(NamedTuple):
    """What an update has to do: operations, bytes to stream, and random reads of 16 numbers."""

    operations: float
    streamed: float
    rows: float


def needed(labels: LabelMatrix, factors: int) -> tuple[Work, Work]:
    """Return the work of the update of the images, and that of the update of the labels."""
    n, m, pairs, blocks = labels.n_rows, labels.n_labels, labels.n_pairs, factors / LANES
    of_images = Work(3 * n * factors**2 + 8 * pairs * factors, 4 * (2 * n * factors + 3 * pairs), 2 * pairs * blocks)
    of_labels = Work(3 * m * factors**2 + 8 * pairs * factors, 4 * 5 * pairs * blocks, pairs * blocks)
    return of_images, of_labels


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def read_rows(array, rows, out):
    """Write the sum of some rows of `array` to `out`.

    `array` has shape (n, 16) and dtype float32. The indices of the rows are those in `rows`, except for the last AHEAD.
    """
    total = broadcast(np.float32(0))
    for j in range(len(rows) - AHEAD):
        prefetch(array, (rows[j + AHEAD], 0))
        total = total + load(array, (rows[j], 0))
    store(out, 0, total)


@njit(cache=True, nogil=True)
def copy_rows(array, out):
    """Copy `array`, of shape (n, 16) and dtype float32, to `out`."""
    for i in range(len(array)):
        store(out, (i, 0), load(array, (i, 0)))


def measure(plan: Plan) -> pl.DataFrame:
    """Measure both updates, and the rates, for all sizes and numbers of threads."""
    rows: list[Row] = []
    for size in plan.trainings:
        labels = simulate(size, plan.scale)
        for threads in plan.threads:
            with workers(threads) as pool:
                rows += compare(size, labels, plan, pool)
    return pl.DataFrame(rows, schema=SCHEMA)


def compare(size: str, labels: LabelMatrix, plan: Plan, pool: Workers) -> list[Row]:
    """Measure the updates and the rates in turns, and return a row for each update and for both together."""
    model = VSE_FS.start(labels, VSE_FS.grid[0] | {"factors": plan.factors}, pool).method
    hessians: list[NDArray[np.float32]] = []

    def update_images() -> None:
        hessians[:] = [model._sweep_images()[0]]

    turns: list[Callable[[], float]] = [timed(update_images), timed(lambda: model._sweep_labels(hessians[0]))]
    turns += [*rates(pool, labels.n_rows, labels.n_labels, plan.factors)]
    images, of_labels, product, copied, label_rows, image_rows = map(np.median, interleave(turns, plan.repeats))
    keys: Row = {"size": size, "threads": pool.threads} | conditions(plan.repeats)
    rows = []
    for update, seconds, work, row_seconds in zip(
        ("images", "labels"), (images, of_labels), needed(labels, plan.factors), (label_rows, image_rows), strict=True
    ):
        limits = {
            "operations": work.operations * product,
            "streams": work.streamed * copied,
            "rows": work.rows * row_seconds,
        }
        rows.append(keys | limits | {"update": update, "seconds": seconds, "share": max(limits.values()) / seconds})
    both: Row = {name: sum(row[name] for row in rows) for name in ("seconds", "operations", "streams", "rows")}
    limit = sum(row["share"] * row["seconds"] for row in rows)
    return [*rows, keys | both | {"update": "both", "share": limit / both["seconds"]}]


def rates(pool: Workers, n_images: int, n_labels: int, factors: int) -> list[Callable[[], float]]:
    """Return turns that measure seconds per operation, per copied byte, and per random row of labels and of images.

    A row has 16 numbers. Rows of labels are read from an array as large as all label vectors. Rows of images are read
    from an array as large as one block (16 factors) of all image vectors.
    """
    rng = np.random.default_rng(SEED)
    left, right, product = (np.ones((SIDE, SIDE), dtype=np.float32) for _ in range(3))
    source, target = aligned(n_images * factors // LANES, LANES), aligned(n_images * factors // LANES, LANES)

    def multiply() -> float:
        with threadpool_limits(pool.threads, user_api="blas"):
            start = time.perf_counter()
            np.matmul(left, right, out=product)
            return (time.perf_counter() - start) / (2 * SIDE**3)

    def copy() -> float:
        chunks = even_chunks(len(source), -(-len(source) // pool.threads))
        return timed(lambda: pool.run(lambda a, b: copy_rows(source[a:b], target[a:b]), chunks))() / (2 * source.nbytes)

    def reading(n_rows: int) -> Callable[[], float]:
        array, rows = source[:n_rows], rng.integers(n_rows, size=DRAWS, dtype=np.int32)
        chunks = even_chunks(DRAWS, -(-DRAWS // pool.threads))
        sums = aligned(len(chunks), LANES)
        place = {start: number for number, (start, _) in enumerate(chunks)}
        return lambda: (
            timed(lambda: pool.run(lambda a, b: read_rows(array, rows[a:b], sums[place[a]]), chunks))() / DRAWS
        )

    return [multiply, copy, reading(n_labels * factors // LANES), reading(n_images)]
