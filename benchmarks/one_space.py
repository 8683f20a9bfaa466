"""Time the methods that use image and label vectors of one network, and also ridge regression and neighbours' votes.

    .venv/bin/python -m benchmarks.one_space [--images 5000] [--labels 300] [--dimensions 512] [--repeats 5]

The vectors are simulated: a label's vector is random, and an image's vector is the sum of its labels' vectors and
noise. Each repeat fits all methods, one after the other, on one thread, and scores all labels for 1,000 further images.
The script prints the median seconds of a fit, and the median milliseconds to score an image.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from statistics import median

import numpy as np

from benchmarks.data import configured
from benchmarks.plan import SEED
from vsebench.core.machine import processor
from vsebench.core.workers import Workers, workers
from vsebench.data.features import Features
from vsebench.data.problem import LabelMatrix, Problem, Queries, Training, WordVectors
from vsebench.data.streams import Stream, generator
from vsebench.methods.base import Control, load_method, read_settings

METHODS = ("zero_shot_cosine", "tip_adapter", "ridge", "vote_by_cosine")
SCORED = 1_000
LABELS_PER_IMAGE = 4
NOISE = 4.0  # length of the noise; a label's vector has length 1


def simulate(n_images: int, n_labels: int, dimensions: int, pool: Workers) -> tuple[Problem, Queries]:
    """Return a problem, and queries for its last `SCORED` images, from which methods do not learn."""
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    vectors = rng.standard_normal((n_labels, dimensions), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    labels = np.argsort(rng.random((n_images + SCORED, n_labels)), axis=1)[:, :LABELS_PER_IMAGE].astype(np.int32)
    noise = rng.standard_normal((n_images + SCORED, dimensions), dtype=np.float32) * (NOISE / dimensions**0.5)
    features = Features(vectors[labels].sum(axis=1) + noise, np.ones(n_images + SCORED, dtype=np.bool_))
    offsets = np.minimum(np.arange(n_images + SCORED + 1), n_images) * LABELS_PER_IMAGE
    of_training = np.sort(labels[:n_images], axis=1).ravel()
    matrix = LabelMatrix(n_labels, offsets.astype(np.int64), of_training, np.ones(len(of_training), dtype=np.int32))
    images = np.arange(n_images + SCORED, dtype=np.int32)
    training = Training(matrix, images[:n_images], np.ones(n_labels, dtype=np.bool_))
    words = WordVectors(vectors, np.ones(n_labels, dtype=np.bool_))
    queries = Queries(images[n_images:], LabelMatrix.empty(SCORED, n_labels), features.rows(images[n_images:]))
    return Problem(training, SEED, pool, features, words), queries


def time_once(variant: str, problem: Problem, queries: Queries) -> tuple[float, float]:
    """Return the seconds of a fit, and the milliseconds to score an image."""
    config = configured(variant)
    method = load_method(config.method)
    assert issubclass(method, Control)
    values = dict(config.settings)
    if "normalise" in method.settings_type.model_fields:
        values["normalise"] = ["l2"]
    settings = read_settings(method, values, variant)
    start = time.perf_counter()
    model = method(problem, settings).model()
    fitted = time.perf_counter()
    model.scores(queries)
    return fitted - start, 1000 * (time.perf_counter() - fitted) / SCORED


def lines(n_images: int, n_labels: int, dimensions: int, repeats: int) -> Iterator[str]:
    """Yield the lines of the table."""
    with workers(1) as pool:
        problem, queries = simulate(n_images, n_labels, dimensions, pool)
        for variant in METHODS:  # compiles kernels and loads libraries
            time_once(variant, problem, queries)
        times = [{variant: time_once(variant, problem, queries) for variant in METHODS} for _ in range(repeats)]
    yield f"{processor()}, one thread; {n_images:,} images, {n_labels:,} labels, {dimensions:,} features"
    yield "| method | seconds to fit | milliseconds to score an image |"
    yield "|---|---|---|"
    for variant in METHODS:
        seconds, scoring = (median(of_repeat[variant][part] for of_repeat in times) for part in (0, 1))
        yield f"| `{variant}` | {seconds:.3g} | {scoring:.2g} |"


def main(arguments: list[str]) -> None:
    """Read the command line, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=5_000, help="number of training images")
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--dimensions", type=int, default=512, help="number of features")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args(arguments)
    for text in lines(given.images, given.labels, given.dimensions, given.repeats):
        print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
