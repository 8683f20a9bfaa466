"""Seconds of a step of WSABIE against the non-zeros of a row, D and the number of labels Y."""

import os
from functools import partial
from statistics import mean, median

import polars as pl

from benchmarks.clock import Row, clock_for, interleave, timed
from benchmarks.data import CONFIG
from benchmarks.feature_rows import all_known, draw_labels, draw_words
from benchmarks.plan import SEED, Plan, SparseRows
from vsebench.core.configuration import MethodConfig, read_config
from vsebench.core.machine import processor
from vsebench.core.workers import workers
from vsebench.methods.embedding_sgd import EmbeddingSettings
from vsebench.methods.neighbours import prepare
from vsebench.methods.wsabie import Wsabie
from vsebench.problem import Problem, Training
from vsebench.streams import Stream, generator

SCHEMA = {
    "non_zeros": pl.Float64,  # of a row, mean
    "factors": pl.Int32,
    "labels": pl.Int32,
    "trials": pl.Float64,  # of a step, mean
    "seconds": pl.Float64,  # of a step, median
    "repeats": pl.Int32,
    "load": pl.Float64,
    "machine": pl.String,
}
IMAGES = 4000  # each with one label, so an epoch has as many steps


def measure(plan: Plan) -> pl.DataFrame:
    """Measure every combination of the plan's `steps`; what differs in D alone takes turns."""
    sizes, rows = plan.on_features, []
    for multiple in sizes.steps["non_zeros"]:
        for labels in sizes.steps["labels"]:
            words = sizes.sparse.words * multiple
            size = SparseRows(plan.scaled(IMAGES), plan.scaled(sizes.sparse.dimensions), labels, 1, words)
            for row in steps_of(size, sizes.steps["factors"], plan.repeats):
                rows.append(row)
                print("{non_zeros:.1f} non-zeros, D {factors}, Y {labels}: {seconds:.3g} s a step".format(**row))
    return pl.DataFrame(rows, schema=SCHEMA)


def steps_of(size: SparseRows, factors: tuple[int, ...], repeats: int) -> list[Row]:
    """Time the epochs after the first, with the settings of the row `wsabie`."""
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    labels = draw_labels(size, rng)
    values = prepare(draw_words(size, labels, rng), "cosine")
    settings = read_config(MethodConfig, CONFIG / "methods" / "wsabie.yaml").settings
    with workers(1) as pool:
        problem = Problem(Training.all_of(labels), SEED, pool, all_known(values))
        methods = [Wsabie(problem, EmbeddingSettings.model_validate(settings | {"factors": d})) for d in factors]
        trials: list[list[float]] = [[] for _ in methods]
        turns = [partial(epoch_of, method, found) for method, found in zip(methods, trials, strict=True)]
        seconds = interleave([timed(turn, clock_for(1)) for turn in turns], repeats)
    shared: Row = {"non_zeros": values.nnz / values.shape[0], "labels": size.labels, "repeats": repeats}
    shared |= {"load": os.getloadavg()[0], "machine": processor()}
    return [
        shared | {"factors": d, "trials": mean(found[1:]), "seconds": median(own) / labels.n_pairs}
        for d, found, own in zip(factors, trials, seconds, strict=True)
    ]


def epoch_of(method: Wsabie, trials: list[float]) -> None:
    """Train for an epoch and note the mean number of trials."""
    found = method.epoch().trials
    assert found is not None
    trials.append(found)
