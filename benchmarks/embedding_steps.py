"""Measure how the time of a WSABIE step depends on the numbers of non-zero features, factors (D) and labels (Y)."""

from functools import partial
from statistics import mean, median

import numpy as np
import polars as pl
from scipy import sparse

from benchmarks.clock import CONDITIONS, Row, clock_for, conditions, interleave, timed
from benchmarks.data import configured
from benchmarks.feature_rows import all_known
from benchmarks.plan import SEED, Plan
from vsebench.core.workers import workers
from vsebench.data.features import Features
from vsebench.data.problem import LabelMatrix, Problem, Training
from vsebench.data.streams import Stream, generator
from vsebench.methods.by_features.neighbours import prepare
from vsebench.methods.by_features.wsabie import EmbeddingSettings, Wsabie

SCHEMA = {
    "non_zeros": pl.Int32,  # mean number of non-zeros of a row
    "factors": pl.Int32,
    "labels": pl.Int32,
    "trials": pl.Float64,  # mean number of trials of a step
    "seconds": pl.Float64,  # median time of a step
    **CONDITIONS,
}
IMAGES = 4000  # number of images and of steps in an epoch, since each image has one label


def measure(plan: Plan) -> pl.DataFrame:
    """Measure a step for all combinations of the numbers in the plan's `steps`.

    Combinations that differ only in D take turns.
    """
    sizes, rows = plan.on_features, []
    for non_zeros in sizes.steps["non_zeros"]:
        for n_labels in sizes.steps["labels"]:
            shape = plan.scaled(IMAGES), max(plan.scaled(sizes.sparse.dimensions), 2 * non_zeros)
            for row in steps_of(shape, non_zeros, n_labels, sizes.steps["factors"], plan.repeats):
                rows.append(row)
                print("{non_zeros} non-zeros, D {factors}, Y {labels}: {seconds:.3g} s per step".format(**row))
    return pl.DataFrame(rows, schema=SCHEMA)


def draw(shape: tuple[int, int], non_zeros: int, n_labels: int) -> tuple[LabelMatrix, Features]:
    """Draw images with one label each, and feature rows with `non_zeros` non-zeros on average, in random columns."""
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    ones = np.ones(shape[0], dtype=np.int32)
    drawn = rng.integers(n_labels, size=shape[0], dtype=np.int32)
    labels = LabelMatrix(n_labels, np.arange(shape[0] + 1, dtype=np.int64), drawn, ones)
    rows = sparse.random_array(shape, density=non_zeros / shape[1], format="csr", dtype=np.float32, rng=rng)
    rows.sort_indices()
    return labels, all_known(prepare(rows, "cosine"))


def steps_of(
    shape: tuple[int, int], non_zeros: int, n_labels: int, factors: tuple[int, ...], repeats: int
) -> list[Row]:
    """Return a row for each number of factors, with the median time of a step.

    The first epoch is not counted. The settings are those of `config/methods/wsabie.yaml`.
    """
    labels, features = draw(shape, non_zeros, n_labels)
    settings = configured("wsabie").settings
    with workers(1) as pool:
        problem = Problem(Training.all_of(labels), SEED, pool, features)
        methods = [Wsabie(problem, EmbeddingSettings.model_validate(settings | {"factors": d})) for d in factors]
        trials: list[list[float]] = [[] for _ in methods]
        turns = [partial(epoch_of, method, trials_of) for method, trials_of in zip(methods, trials, strict=True)]
        seconds = interleave([timed(turn, clock_for(1)) for turn in turns], repeats)
    shared = {"non_zeros": non_zeros, "labels": n_labels} | conditions(repeats)
    return [
        shared | {"factors": d, "trials": mean(trials_of[1:]), "seconds": median(times) / labels.n_pairs}
        for d, trials_of, times in zip(factors, trials, seconds, strict=True)
    ]


def epoch_of(method: Wsabie, trials: list[float]) -> None:
    """Train for an epoch, and append the mean number of trials of its steps to `trials`."""
    mean_trials = method.epoch().trials
    assert mean_trials is not None
    trials.append(mean_trials)
