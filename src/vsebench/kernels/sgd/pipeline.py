"""The prefetch pipeline of Opt-AUC, WARP and VSE-ens: positives are drawn, and their data fetched, ahead of the steps.

A step waits for memory much longer than it computes, so the memory that it reads is prefetched. Steps are taken in
batches of 16. Each batch passes through four stages, one in each iteration ("turn") of the kernel's outer loop:

                turn:    1        2        3        4        5        6        7
    batch 0           choose    read    fetch     step
    batch 1                    choose    read    fetch     step
    batch 2                             choose    read    fetch     step
    batch 3                                      choose    read    fetch     step

    choose   draw a row of `Positives.pairs` for each step, and prefetch that row
    read     read that row (the image, the positive, and the position of the image's labels), and prefetch these labels
    fetch    prefetch the vectors of the image, of the positive, and of a negative (done by the kernel)
    step     take the step (done by the kernel)

Each batch has 16 slots, one per step. Within a turn, the kernel visits the slots in order: slot t of all four batches,
then slot t + 1. A processor can wait for only about two dozen cache lines at a time, so the prefetches are spread over
the turn, between the steps.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.random_numbers import below
from vsebench.kernels.vectors import LANES, prefetch

BATCH = 16  # number of steps per batch, at most LANES; the vectors for two batches fit into the L1 cache
IMAGE, POSITIVE, START, STOP, NEGATIVE = range(5)  # columns of a batch; the first four as in `Positives.pairs`


class Positives(NamedTuple):
    """The positive (image, label) pairs from which steps are drawn.

    Attributes
    ----------
    pairs
        (n, 4) int32, one row per positive, with the columns image i, label p, start and stop. row_labels[start:stop]
        are all labels of image i. A label that an image has twice has two rows.
    row_labels
        (n_pairs + LANES,) int32, the different labels of each image, one image after the other. The last LANES numbers
        are not used.
    """

    pairs: NDArray[np.int32]
    row_labels: NDArray[np.int32]


class Pipeline(NamedTuple):
    """The four batches in the pipeline, overwritten by each epoch.

    Attributes
    ----------
    positives : `Positives`
    choosing : (BATCH,) int64, the indices of rows of `pairs`
    reading, fetching, stepping : (BATCH, 5) int64, one row per step: the four numbers of a row of `pairs`, then the
        negative. The last column is used only by kernels that draw the negative before the step.
    """

    positives: Positives
    choosing: NDArray[np.int64]
    reading: NDArray[np.int64]
    fetching: NDArray[np.int64]
    stepping: NDArray[np.int64]


def new_pipeline(positives: Positives) -> Pipeline:
    """Return an empty pipeline.

    Kernels get the pipeline as an argument, because they must not allocate memory themselves (`NO_ALLOCATION`).
    """
    reading, fetching, stepping = (np.zeros((BATCH, 5), dtype=np.int64) for _ in range(3))
    return Pipeline(positives, np.zeros(BATCH, dtype=np.int64), reading, fetching, stepping)


@njit(cache=True, inline="always")
def turns(steps):
    """Return a range with one number per turn: the first step of the batch that is in the stage "step" in this turn.

    The numbers of the first three turns are negative, because these turns only fill the pipeline.
    """
    return range(-3 * BATCH, steps, BATCH)


@njit(cache=True, inline="always")
def batch_size(steps, first):
    """Return the number of steps of the batch that begins with step `first`.

    If `first` is not in range(steps), there is no such batch, and the number is 0.
    """
    return max(min(BATCH, steps - first), 0) if first >= 0 else 0


@njit(cache=True, inline="always")
def choose_and_read(t, pipeline, first, steps, rng):
    """Carry out the stages "choose" and "read" for slot t of the two batches that are in these stages.

    first : integer, from `turns`: the first step of the batch that is in the stage "step"
    steps : integer, the number of steps of the epoch
    rng : (1,) uint64, the stream of the positives, advanced
    """
    pairs, row_labels = pipeline.positives
    if t < batch_size(steps, first + 2 * BATCH):
        for column in range(4):
            pipeline.reading[t, column] = pairs[pipeline.choosing[t], column]
        prefetch(row_labels, pipeline.reading[t, START])
        for start in range(pipeline.reading[t, START], pipeline.reading[t, STOP], LANES):
            prefetch(row_labels, start + LANES - 1)
    if t < batch_size(steps, first + 3 * BATCH):
        pipeline.choosing[t] = below(rng, len(pairs))
        prefetch(pairs, (pipeline.choosing[t], 0))


@njit(cache=True, inline="always")
def advance(pipeline):
    """Return the pipeline for the next turn, in which each batch is one stage further.

    The new pipeline uses the same arrays.
    """
    return Pipeline(pipeline.positives, pipeline.choosing, pipeline.stepping, pipeline.reading, pipeline.fetching)


@njit(cache=True, inline="always")
def prefetch_row(matrix, row):
    """Prefetch a row of a matrix, (n, K) float32."""
    for f in range(0, matrix.shape[1], LANES):
        prefetch(matrix, (row, f))
