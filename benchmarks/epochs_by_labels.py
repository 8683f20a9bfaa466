"""Measure how the time of an epoch with word vectors, and of its parts, depends on the number of labels.

The parts are the network, the loss, and the draws of labels. Labels and features are random, so accuracy is not
measured. Label frequencies are proportional to 1 / (r + 10) for r = 0, 1, 2, ..., in random order: if the vectors of
frequent labels were adjacent, they would stay in the processor's cache.
"""

from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.clock import CONDITIONS, Row, clock_for, conditions, interleave, timed
from benchmarks.feature_rows import all_known
from benchmarks.networks import network_of
from benchmarks.plan import SEED, Plan
from vsebench.core.workers import Workers, workers
from vsebench.data.problem import LabelMatrix, Matrix, Problem, Training, WordVectors
from vsebench.data.streams import Stream, generator
from vsebench.methods.networks.training import NetworkMethod
from vsebench.methods.words.sampled_words import SampledVectors

SCHEMA = {
    "variant": pl.String,
    "labels": pl.Int32,
    "part": pl.String,
    "seconds": pl.Float64,  # median time per image
    "words": pl.Int64,  # bytes of the labels' word vectors
    **CONDITIONS,
}
SAMPLED = ("s_x_ent", "s_opt_x_ent", "s_fast0tag")
FULL_LOSSES = ("x_ent", "opt_x_ent", "fast0tag", "opt_fast0tag", "avg_wv")  # measured with at most `MOST_LABELS` labels
MOST_LABELS = 13_980
INPUTS, HIDDEN, OUTPUTS = 1280, 1024, 300
BATCH = 2048
PER_IMAGE = 7  # number of labels of an image
WHOLE, NETWORK, LOSS, DRAWS = "whole", "network alone", "loss alone", "draws alone"

Turns = dict[tuple[int, str], Callable[[], object]]


def measure(plan: Plan) -> pl.DataFrame:
    """Measure each method with all numbers of labels, in turns, so that a busy machine affects all of these equally."""
    sizes, (n_images,) = plan.on_features.epochs["labels"], plan.on_features.epochs["images"]
    lines: list[Row] = []
    with workers(1) as pool:
        for variant in (*SAMPLED, *FULL_LOSSES):
            counts = [size for size in sizes if variant in SAMPLED or size <= MOST_LABELS]
            turns: Turns = {}
            for size in counts:
                turns |= parts_of(method_of(variant, drawn(size, n_images, pool)), size, n_images)
            seconds = interleave([timed(turn, clock_for(1)) for turn in turns.values()], plan.repeats)
            for (size, part), own in zip(turns, seconds, strict=True):
                line = {"variant": variant, "labels": size, "part": part, "seconds": median(own) / n_images}
                lines.append(line | {"words": 4 * size * OUTPUTS} | conditions(plan.repeats))
                print("{variant}, {labels} labels, {part}: {seconds:.3g} s per image".format(**line), flush=True)
    return pl.DataFrame(lines, schema=SCHEMA)


def drawn(n_labels: int, n_images: int, pool: Workers) -> Problem:
    """Return random images with features and `PER_IMAGE` different labels each, and random word vectors."""
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    frequency = rng.permutation(1 / (np.arange(n_labels) + 10.0))
    of_image = rng.choice(n_labels, (n_images, 4 * PER_IMAGE), p=frequency / frequency.sum())
    labels = np.stack([first_different(numbers, n_labels) for numbers in of_image])
    offsets = PER_IMAGE * np.arange(n_images + 1, dtype=np.int64)
    matrix = LabelMatrix(n_labels, offsets, labels.ravel(), np.ones(labels.size, dtype=np.int32))
    features = rng.standard_normal((n_images, INPUTS), dtype=np.float32)
    words = WordVectors(rng.standard_normal((n_labels, OUTPUTS), dtype=np.float32), np.ones(n_labels, dtype=np.bool_))
    return Problem(Training.all_of(matrix), SEED, pool, all_known(features), word_vectors=words)


def first_different(numbers: NDArray[np.int64], n_labels: int) -> NDArray[np.int32]:
    """Return the first `PER_IMAGE` different numbers, sorted; if there are fewer, add the smallest unused numbers."""
    different = list(dict.fromkeys([*numbers.tolist(), *range(min(n_labels, PER_IMAGE))]))[:PER_IMAGE]
    return np.sort(np.array(different, dtype=np.int32))


def method_of(variant: str, problem: Problem) -> NetworkMethod:
    """Return the method of a file in `config/methods`, with this benchmark's network."""
    return network_of(variant, problem, hidden=[HIDDEN], batch=BATCH, normalise=[])


def parts_of(method: NetworkMethod, n_labels: int, n_images: int) -> Turns:
    """Return the work to be timed: a method's epoch, and each part of it alone, on batches of consecutive images."""
    batches = [np.arange(start, min(start + BATCH, n_images)) for start in range(0, n_images, BATCH)]
    outputs: Matrix = np.ones((BATCH, OUTPUTS), dtype=np.float32)
    turns: Turns = {
        (n_labels, WHOLE): method.epoch,
        (n_labels, NETWORK): partial(network_alone, method, batches),
        (n_labels, LOSS): partial(loss_alone, method, outputs, batches),
    }
    if isinstance(method.table, SampledVectors):
        turns[n_labels, DRAWS] = partial(draws_alone, method.table, batches)
    return turns


def network_alone(method: NetworkMethod, batches: list[NDArray[np.int64]]) -> None:
    """Take steps without a loss; the outputs themselves serve as derivatives."""
    for images in batches:
        method.layers.step(method.seen.rows[images], lambda scores: 0.0)


def loss_alone(method: NetworkMethod, outputs: Matrix, batches: list[NDArray[np.int64]]) -> None:
    """Compute losses of fixed outputs, and update the label vectors if they are trained."""
    for images in batches:
        method.loss(outputs[: len(images)] / OUTPUTS, images)


def draws_alone(table: SampledVectors, batches: list[NDArray[np.int64]]) -> None:
    """Draw the labels of all batches."""
    for images in batches:
        table.draw(images)
