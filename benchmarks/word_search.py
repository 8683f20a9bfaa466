"""Time two operations whose speed the sampled tagging paper reports: finding images for a word, and drawing negatives.

Vectors and labels are random, so the quality of a search is not measured.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import Row, clock_for, comparison, interleave, timed
from benchmarks.epochs_by_labels import drawn, method_of
from benchmarks.neighbour_search import Work, limited
from benchmarks.plan import SEED, Plan
from vsebench.core.workers import workers
from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.data.streams import Stream, generator
from vsebench.methods.words.sampled_words import SampledVectors

FIRST = 20  # number of images that a search returns
DRAWN_FOR = 64  # number of images for which labels are drawn


def image_search(plan: Plan) -> list[Row]:
    """Compare the time of a search for a word with the time to read all image vectors once.

    A search scores all images by the word's vector.
    """
    n_images, size = plan.on_features.searched
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    images = rng.standard_normal((n_images, size), dtype=np.float32)
    images /= np.linalg.norm(images, axis=1, keepdims=True)
    keys = {"what": "image_search", "size": f"{n_images:,} x {size}", "ours": "a search", "peer": "reading the vectors"}
    rows = []
    for threads in plan.threads:
        turns: list[Work] = [partial(search, images, images[0].copy()), partial(read, images)]
        turns = [partial(limited, turn, threads) for turn in turns]
        ours, peer = interleave([timed(turn, clock_for(threads)) for turn in turns], plan.repeats)
        rows.append(comparison(keys | {"threads": threads}, ours, peer))
    return rows


def search(images: Matrix, word: Matrix) -> NDArray[np.intp]:
    """Return the `FIRST` images with the largest inner products with a word's vector, best first."""
    scores = images @ word
    first = np.argpartition(scores, -FIRST)[-FIRST:]
    ranked: NDArray[np.intp] = first[np.argsort(-scores[first], kind="stable")]
    return ranked


def read(images: Matrix) -> float:
    """Read all vectors once."""
    flat = images.ravel()
    return float(flat @ flat)


def negative_draws(plan: Plan) -> list[Row]:
    """Compare the time of our draws with that of the paper's own code, which computes a new distribution per image."""
    rows = []
    for n_labels in plan.on_features.epochs["labels"]:
        with workers(1) as pool:
            problem = drawn(n_labels, DRAWN_FOR, pool)
            method = method_of("s_x_ent", problem)
            assert isinstance(method.table, SampledVectors)
            images = np.arange(DRAWN_FOR)
            share = method.table.n_images_of / method.table.n_images_of.sum()
            turns: list[Work] = [
                partial(method.table.draw, images),
                partial(draw_as_published, problem.training.labels, share),
            ]
            seconds = interleave([timed(turn, clock_for(1)) for turn in turns], plan.repeats)
        ours, peer = ([time / DRAWN_FOR for time in times] for times in seconds)
        keys = {"what": "negative_draws", "size": f"{n_labels:,} labels", "threads": 1}
        rows.append(comparison(keys | {"ours": "alias table", "peer": "the authors' rule"}, ours, peer))
    return rows


def draw_as_published(labels: LabelMatrix, share: NDArray[np.float64]) -> None:
    """Draw five positives and ten negatives for each image, as the code of the paper's authors does."""
    rng = generator(SEED, Stream.NEGATIVES)
    for image in range(labels.n_rows):
        positives = rng.choice(labels.label_of_pair[labels.offsets[image] : labels.offsets[image + 1]], 5)
        negatives = share.copy()
        negatives[positives] = 0
        rng.choice(len(share), 10, p=negatives / negatives.sum())
