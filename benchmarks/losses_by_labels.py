"""Measure how the time of losses over pairs of labels, including their derivatives, depends on the number of labels."""

from functools import partial
from statistics import median

import numpy as np
import polars as pl

from benchmarks.clock import CONDITIONS, Row, clock_for, conditions, interleave, timed
from benchmarks.feature_rows import all_known
from benchmarks.networks import network_of
from benchmarks.plan import SEED, Plan
from vsebench.core.workers import workers
from vsebench.data.problem import LabelMatrix, Matrix, Problem, Training
from vsebench.data.streams import Stream, generator
from vsebench.methods.networks.training import NetworkMethod

SCHEMA = {
    "form": pl.String,
    "labels": pl.Int32,
    "per_image": pl.Int32,
    "seconds": pl.Float64,  # median time of a batch
    **CONDITIONS,
}
FORMS = {
    "lsep": "LSEP, exact: a product of two sums",
    "lsep_sampled": "LSEP over 1,000 drawn pairs",
    "ranking_hinge": "hinge, pair by pair",
}
IMAGES = 1000  # number of images in a batch


def measure(plan: Plan) -> pl.DataFrame:
    """Measure the losses in interleaved repeats, for each number of labels and of labels per image in the plan."""
    rows: list[Row] = []
    for n_labels in plan.on_features.losses["labels"]:
        for per_image in plan.on_features.losses["per_image"]:
            rows += seconds_of(n_labels, per_image, plan.repeats)
            for row in rows[-len(FORMS) :]:
                print("{form}, {labels} labels, {per_image} per image: {seconds:.3g} s".format(**row), flush=True)
    return pl.DataFrame(rows, schema=SCHEMA)


def seconds_of(n_labels: int, per_image: int, repeats: int) -> list[Row]:
    """Time the losses of random scores for `IMAGES` images with `per_image` random labels each."""
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    drawn = rng.random((IMAGES, n_labels)).argpartition(per_image - 1, axis=1)[:, :per_image]
    offsets = per_image * np.arange(IMAGES + 1, dtype=np.int64)
    ones = np.ones(drawn.size, dtype=np.int32)
    labels = LabelMatrix(n_labels, offsets, np.sort(drawn, axis=1).astype(np.int32).ravel(), ones)
    scores: Matrix = rng.standard_normal((IMAGES, n_labels), dtype=np.float32)
    with workers(1) as pool:
        problem = Problem(Training.all_of(labels), SEED, pool, all_known(np.ones((IMAGES, 1), dtype=np.float32)))
        methods = [network_of(form, problem) for form in FORMS]
        turns = [partial(loss_of, method, scores) for method in methods]
        seconds = interleave([timed(turn, clock_for(1)) for turn in turns], repeats)
    shared = {"labels": n_labels, "per_image": per_image} | conditions(repeats)
    return [shared | {"form": name, "seconds": median(own)} for name, own in zip(FORMS.values(), seconds, strict=True)]


def loss_of(method: NetworkMethod, scores: Matrix) -> None:
    """Compute the loss of a copy of the scores.

    The copy is needed because the method overwrites its argument with the derivatives.
    """
    method.loss(scores.copy(), np.arange(len(scores)))
