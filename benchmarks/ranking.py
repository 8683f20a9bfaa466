"""Other ways to rank held-out labels: the evaluation of implicit, and a straightforward one in NumPy."""

import importlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vsebench.core.workers import Workers
from vsebench.data.chunks import even_chunks
from vsebench.data.problem import HeldOut, LabelMatrix
from vsebench.models import Embeddings

SCORES_A_BLOCK = 1 << 20  # 4 MiB; smaller blocks need many calls, and larger blocks do not fit into the cache
CUTOFF = 10


def blocked_ranks(model: Embeddings, held_out: HeldOut, pool: Workers) -> NDArray[np.int32]:
    """Return the rank of the held-out label of each image.

    Each image has one held-out label. The ranks are computed for a block of images at a time. The scores of a block are
    one matrix product. Known labels, which never include the held-out label, are masked. The scores above the held-out
    label's score are counted. The arrays of a block are reused for the next one.
    """
    images, labels, known = held_out.images, held_out.right.label_of_pair, held_out.known
    columns = np.ascontiguousarray(model.label.T)
    ranks = np.empty(len(images), dtype=np.int32)
    block = max(1, SCORES_A_BLOCK // known.n_labels)

    def work(start: int, stop: int) -> None:
        scores = np.empty((block, known.n_labels), dtype=np.float32)
        above = np.empty((block, known.n_labels), dtype=np.bool_)
        for first in range(start, stop, block):
            last = min(first + block, stop)
            n, own_known = last - first, known.slice(first, last)
            np.matmul(model.image[images[first:last]], columns, out=scores[:n])
            own = scores[np.arange(n), labels[first:last]]
            scores[own_known.image_of_pair, own_known.label_of_pair] = -np.inf
            np.greater(scores[:n], own[:, np.newaxis], out=above[:n])
            ranks[first:last] = above[:n].sum(axis=1, dtype=np.int32) + 1

    pool.run(work, even_chunks(len(images), -(-len(images) // pool.threads)))
    return ranks


def implicit_recall(model: Embeddings, held_out: HeldOut, threads: int) -> Callable[[], float]:
    """Return a function that computes recall@10 by implicit's evaluation, on inputs that are prepared in advance."""
    peers = importlib.import_module("benchmarks.peers")
    evaluation = importlib.import_module("implicit.evaluation")
    als = importlib.import_module("implicit.cpu.als").AlternatingLeastSquares(
        factors=model.label.shape[1], num_threads=threads
    )
    als.user_factors, als.item_factors = model.image, model.label
    known_labels, tested = (
        peers.sparse(for_every_image(part, held_out, len(model.image))) for part in (held_out.known, held_out.right)
    )

    def work() -> float:
        metrics = evaluation.ranking_metrics_at_k(
            als, known_labels, tested, K=CUTOFF, show_progress=False, num_threads=threads
        )
        # With one held-out label per image, implicit's "precision" (hits over min(K, held-out labels)) is recall@K.
        return float(metrics["precision"])

    return work


def for_every_image(part: LabelMatrix, held_out: HeldOut, n_images: int) -> LabelMatrix:
    """Return a matrix with a row for each image of the data set.

    The rows of the tested images are those of `part`. The rows of the other images are empty.
    """
    sizes = np.zeros(n_images, dtype=np.int64)
    sizes[held_out.images] = part.n_labels_of_row
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return LabelMatrix(part.n_labels, offsets, part.label_of_pair, part.count_of_pair)
