"""Other ways to rank held-out labels: implicit's evaluation, and what one writes by hand with NumPy."""

import importlib
from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.chunks import even_chunks
from vsebench.core.workers import Workers
from vsebench.methods.base import Embeddings
from vsebench.problem import LabelMatrix

SCORES_A_BLOCK = 1 << 20  # 4 MiB: between too many calls and scores that have left the cache when they are counted
CUTOFF = 10


def blocked_ranks(model: Embeddings, known: LabelMatrix, held_out: pl.DataFrame, pool: Workers) -> NDArray[np.int32]:
    """Return the rank of each held-out label, a block of images at a time.

    A block's scores are one matrix product; known labels are masked and the scores above the held-out label's counted.
    Both arrays of a block are used again for the next one. No held-out label is a known one.
    """
    images, labels = held_out["image"].to_numpy(), held_out["label"].to_numpy()
    columns = np.ascontiguousarray(model.label.T)
    ranks = np.empty(len(images), dtype=np.int32)
    block = max(1, SCORES_A_BLOCK // known.n_labels)

    def task(start: int, stop: int) -> None:
        scores = np.empty((block, known.n_labels), dtype=np.float32)
        above = np.empty((block, known.n_labels), dtype=np.bool_)
        for first in range(start, stop, block):
            last = min(first + block, stop)
            rows, n = images[first:last], last - first
            np.matmul(model.image[rows], columns, out=scores[:n])
            own = scores[np.arange(n), labels[first:last]]
            scores[known_places(known, rows)] = -np.inf
            np.greater(scores[:n], own[:, np.newaxis], out=above[:n])
            ranks[first:last] = above[:n].sum(axis=1, dtype=np.int32) + 1

    pool.run(task, even_chunks(len(images), -(-len(images) // pool.threads)))
    return ranks


def known_places(known: LabelMatrix, images: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return row and column of every known label of some images, the rows counted from 0."""
    starts, degrees = known.offsets[images], known.offsets[images + 1] - known.offsets[images]
    before = np.cumsum(degrees) - degrees
    pairs = np.repeat(starts - before, degrees) + np.arange(degrees.sum())
    return np.repeat(np.arange(len(images)), degrees), known.labels[pairs]


def implicit_recall(model: Embeddings, known: LabelMatrix, held_out: pl.DataFrame, threads: int) -> Callable[[], float]:
    """Return what computes Rec@10 by implicit's evaluation; models and matrices are made here, ahead of it."""
    peers = importlib.import_module("benchmarks.peers")
    evaluation = importlib.import_module("implicit.evaluation")
    als = importlib.import_module("implicit.cpu.als").AlternatingLeastSquares(
        factors=model.label.shape[1], num_threads=threads
    )
    als.user_factors, als.item_factors = model.image, model.label
    known_labels = peers.sparse(known)
    ones = held_out.select("image", "label").with_columns(count=pl.lit(1, dtype=pl.Int32))
    tested = peers.sparse(LabelMatrix.from_pairs(ones, known.n_images, known.n_labels))

    def work() -> float:
        metrics = evaluation.ranking_metrics_at_k(
            als, known_labels, tested, K=CUTOFF, show_progress=False, num_threads=threads
        )
        # With one held-out label an image, what it calls precision (hits over min(K, held-out labels)) is Rec@K.
        return float(metrics["precision"])

    return work
