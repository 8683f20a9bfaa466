"""Measure, for each kernel, the time of an epoch with and without each part of `kernels/vectors.py`.

A kernel is compiled anew, with plain loops in place of some functions that it calls. Both versions start from the same
model and take turns epoch by epoch. Processor time is measured. With few images, all vectors stay in the processor's
cache; with many, steps wait for memory.
"""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median, quantiles
from types import FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from numba import njit
from numba.core.dispatcher import Dispatcher

from benchmarks import plain_loops as plain
from benchmarks.clock import CONDITIONS, Row, conditions, interleave, timed
from benchmarks.data import configured
from benchmarks.feature_rows import all_known
from benchmarks.plan import SEED, Plan
from vsebench.core.workers import Workers, workers
from vsebench.data.problem import LabelMatrix, Problem, Training, WordVectors
from vsebench.data.streams import Stream, generator
from vsebench.kernels import full_sample, products, vectors
from vsebench.kernels.losses import sampled_words
from vsebench.kernels.ranking import counting, neighbours, rounding
from vsebench.kernels.sgd import image_rows, sampling, steps, vse_ens
from vsebench.methods.base import Method, load_method, read_settings
from vsebench.methods.networks.training import NetworkMethod

SCHEMA = {
    "kernel": pl.String,
    "part": pl.String,
    "factors": pl.Int32,  # null: the kernel has no factors
    "labels": pl.Int32,
    "images": pl.Int32,
    "seconds": pl.Float64,  # median time of a turn with vectors
    "ratio": pl.Float64,  # median of the time with plain loops / the time with vectors
    "low": pl.Float64,  # first and third quartile of this ratio
    "high": pl.Float64,
    **CONDITIONS,
}
Replacements = tuple[tuple[Any, Any], ...]  # pairs of a function and the plain loop that replaces it
Kernels = list[tuple[ModuleType, dict[str, Any]]]  # modules with their kernels by name
Turn = Callable[[], object]
SUMS = ((products.dot, plain.dot), (products.margin, plain.margin))
PREFETCH = ((vectors.prefetch, plain.prefetch),)
FEW, MANY = 2000, 60_000  # numbers of images whose vectors fit and do not fit into the cache
FACTORS, LABELS = (32, 128), (300, 5018)
PER_IMAGE = 5  # mean number of labels
FEATURES, WORDS = 256, 300  # dimensions of the features and of the word vectors
SHORTEST = 0.02  # seconds of a turn; shorter epochs are repeated
REPEATS = 3  # the plan's number of repeats is multiplied by this number


@dataclass(frozen=True)
class Part:
    """A part of `kernels/vectors.py` that a kernel uses, and the plain loops that replace this part."""

    kernel: str  # the method to time, a file of config/methods
    name: str
    replaced: Replacements
    images: tuple[int, ...] = (FEW, MANY)
    factors: tuple[int | None, ...] = FACTORS


PARTS = (
    Part("opt_auc", "sums", SUMS),
    Part("opt_auc", "step", ((steps.sgd_step, plain.sgd_step),)),
    Part("opt_auc", "any_equal", ((sampling.contains, plain.contains),)),
    Part("opt_auc", "prefetch", PREFETCH),
    Part("warp", "sums", SUMS),
    Part("warp", "prefetch", PREFETCH),
    Part("vse_ens", "absolute, cumsum", ((vse_ens.weigh_factors, plain.weigh_factors),)),
    Part("vse_ens", "greater_mask, count_bits", ((vse_ens.find_factor, plain.find_factor),)),
    Part("vse_ens", "prefetch", PREFETCH),
    Part("vse_fs", "16 images at a time", ((full_sample.sweep_images, plain.sweep_images),)),
    Part("vse_fs", "transpose, images", ((full_sample.gather_labels, plain.gather_labels),)),
    Part("vse_fs", "transpose, labels", ((full_sample.gather_images, plain.gather_images),)),
    Part("vse_fs", "prefetch", PREFETCH),
    Part("wsabie", "sums of rows", ((image_rows.add_four_rows, plain.add_four_rows),), (FEW,)),
    Part("linear_warp", "scores", ((image_rows.score, plain.score),), (FEW,), (None,)),
    Part("linear_warp", "step", ((image_rows.add_row, plain.add_row),), (FEW,), (None,)),
    Part("one_vs_rest", "sums of rows", ((image_rows.add_four_rows, plain.add_four_rows),), (FEW // 4,), (None,)),
    Part("one_vs_rest", "step", ((image_rows.add_to_rows, plain.add_to_rows),), (FEW // 4,), (None,)),
    Part("s_opt_x_ent", "sums", ((sampled_words.product, plain.product),), (FEW,), (None,)),
    Part("s_opt_x_ent", "prefetch", PREFETCH, (FEW,), (None,)),
)


def measure(plan: Plan) -> pl.DataFrame:
    """Measure all parts at all their sizes."""
    rows: list[Row] = []
    for kernel, part, sizes, turns in every_pair(plan):
        seconds = interleave([timed(turn, time.process_time) for turn in turns], REPEATS * plan.repeats)
        ratios = [theirs / own for own, theirs in zip(*seconds, strict=True)]
        low, middle, high = quantiles(ratios, n=4, method="inclusive")
        row: Row = {"kernel": kernel, "part": part, "factors": sizes[0], "labels": sizes[1], "images": sizes[2]}
        row |= {"seconds": median(seconds[0]), "ratio": middle, "low": low, "high": high} | conditions(len(ratios))
        rows.append(row)
        print("{kernel}, {part}, K {factors}, {labels} labels, {images} images: "
              "{ratio:.2f} [{low:.2f}, {high:.2f}]".format(**row), flush=True)  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA)


def every_pair(plan: Plan) -> Iterator[tuple[str, str, tuple[int | None, int, int], list[Turn]]]:
    """For each comparison, yield the kernel, the part, the sizes, and the turns with and without vectors.

    The sizes are the numbers of factors, labels and images.
    """
    with workers(1) as pool:
        for part in PARTS:
            kernels = compiled_anew(part)
            for images in map(plan.scaled, part.images):
                for labels in map(plan.scaled, LABELS):
                    problem = drawn(images, labels, pool)
                    for factors in part.factors:
                        yield part.kernel, part.name, (factors, labels, images), epochs(part, kernels, problem, factors)
        for labels in map(plan.scaled, LABELS):
            for factors in FACTORS:
                images = plan.scaled(FEW)
                yield "ranking", "add_products", (factors, labels, images), rankings(images, labels, factors)
        for images in map(plan.scaled, (FEW, MANY)):
            yield "nearest images", "greater_mask", (None, 0, images), searches(images)


def without(function: Any, replaced: dict[int, Any]) -> Any:
    """Compile a function anew, with other functions in place of some that it calls directly or indirectly.

    replaced : `id` of a function -> its replacement; updated with the compiled functions that are visited
    """
    if id(function) not in replaced and isinstance(function, Dispatcher):
        python = function.py_func
        called = {name: python.__globals__[name] for name in python.__code__.co_names if name in python.__globals__}
        others = {name: without(value, replaced) for name, value in called.items()}
        replaced[id(function)] = function
        if any(others[name] is not called[name] for name in called):
            options = {key: value for key, value in function.targetoptions.items() if key not in ("cache", "nopython")}
            code, names = python.__code__, python.__globals__ | others
            replaced[id(function)] = njit(**options)(FunctionType(code, names, code.co_name))
    return replaced.get(id(function), function)


def drawn(n_images: int, n_labels: int, pool: Workers) -> Problem:
    """Return random images with labels and features, and random word vectors."""
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    images, labels = (rng.integers(n, size=PER_IMAGE * n_images) for n in (n_images, n_labels))
    pairs = pl.DataFrame({"image": images, "label": labels}).unique().cast(pl.Int32).with_columns(count=1)
    matrix = LabelMatrix.from_pairs(pairs, n_images, n_labels)
    features = rng.standard_normal((n_images if n_images <= FEW else 1, FEATURES), dtype=np.float32)
    words = WordVectors(rng.standard_normal((n_labels, WORDS), dtype=np.float32), np.ones(n_labels, dtype=np.bool_))
    known = all_known(features) if len(features) == n_images else None
    return Problem(Training.all_of(matrix), SEED, pool, known, word_vectors=words)


def epochs(part: Part, kernels: Kernels, problem: Problem, factors: int | None) -> list[Turn]:
    """Return two turns of one or more epochs each, one with vectors and one without."""
    method, values = method_of(part)
    settings = read_settings(method, values | ({"factors": factors} if factors else {}), part.kernel)
    ours, other = method(problem, settings), method(problem, settings)
    ours.epoch()
    start = time.process_time()
    ours.epoch()
    count = math.ceil(SHORTEST / max(time.process_time() - start, 1e-4))

    def with_vectors() -> None:
        for _ in range(count):
            ours.epoch()

    def without_vectors() -> None:
        with ExitStack() as stack:
            for module, names in kernels:
                stack.enter_context(patch.multiple(module, **names))
            for _ in range(count):
                other.epoch()

    return [with_vectors, without_vectors]


def method_of(part: Part) -> tuple[type[Method], dict[str, Any]]:
    """Return the method whose epochs are timed, and its settings."""
    config = configured(part.kernel)
    method = load_method(config.method)
    assert issubclass(method, Method)
    return method, config.settings


def compiled_anew(part: Part) -> Kernels:
    """Compile anew the kernels of a part's method that call a replaced function; return them with their modules."""
    replaced = {id(ours): other for ours, other in part.replaced}
    changed_modules = []
    for module in modules_of(method_of(part)[0]):
        kernels = {name: value for name, value in vars(module).items() if isinstance(value, Dispatcher)}
        anew = {name: without(value, replaced) for name, value in kernels.items()}
        changed = {name: value for name, value in anew.items() if value is not kernels[name]}
        changed_modules += [(module, changed)] if changed else []
    assert changed_modules, f"{part.kernel}, {part.name}: nothing is replaced"
    return changed_modules


def modules_of(method: type[Method]) -> set[ModuleType]:
    """Return the modules of a method's classes and, for a network, of its loss and its table of labels."""
    classes = [method]
    if issubclass(method, NetworkMethod):
        classes += [method.loss_type, method.loss_type.table_type]
    return {sys.modules[base.__module__] for each in classes for base in each.__mro__}


def rankings(n_images: int, n_labels: int, factors: int) -> list[Turn]:
    """Return turns that count the labels above one held-out label per image."""
    rng = np.random.default_rng(SEED)
    images = rng.standard_normal((n_images, factors), dtype=np.float32)
    labels = rounding.round_labels(rng.standard_normal((n_labels, factors), dtype=np.float32))
    queries, held_out = np.arange(n_images, dtype=np.int32), rng.integers(n_labels, size=n_images, dtype=np.int32)
    known = np.zeros(n_images + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    return [
        lambda: counting.count_embedded(images, labels, queries, held_out, *known),
        lambda: plain.count_embedded(images, labels, queries, held_out, *known),
    ]


def searches(n_images: int) -> list[Turn]:
    """Return turns that find the 100 nearest images of some queries, from precomputed products."""
    rng = np.random.default_rng(SEED)
    rows = rng.standard_normal((n_images, 64), dtype=np.float32)
    queries = rows[:100]
    keys, halves, slacks = queries @ rows.T, np.zeros(n_images), np.full(len(queries), 1e-3, dtype=np.float32)
    search = without(neighbours.nearest_dense, {id(neighbours.where_above): plain.where_above})
    return [
        lambda: neighbours.nearest_dense(keys, queries, rows, halves, slacks, min(100, n_images)),
        lambda: search(keys, queries, rows, halves, slacks, min(100, n_images)),
    ]
