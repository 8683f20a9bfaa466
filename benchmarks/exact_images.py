"""Compare two updates of the images in VSE-fs: factor by factor, and to the exact minimum of the loss.

The labels are updated factor by factor in both. The iterations take turns, in one process. Quality is recall@10 on test
labels, with the settings that are best on validation labels for updates factor by factor. Each seed trains both models,
and each model is taken from the epoch with its best value on the validation labels.
"""

import statistics

import polars as pl

from benchmarks.clock import CONDITIONS, Row, clock_for, conditions, interleave, timed
from benchmarks.contestants import VSE_FS, Contestant, Ours, Settings, Training
from benchmarks.data import Data, hold_out, simulate
from benchmarks.plan import Plan
from benchmarks.quality import Judge, value
from vsebench.core.workers import Workers, workers
from vsebench.data.problem import Dataset, LabelMatrix

SCHEMA = {
    "size": pl.String,
    "factors": pl.Int32,
    "threads": pl.Int32,
    "seconds_by_factor": pl.Float64,  # of an iteration, which updates all images and all labels
    "seconds_exact": pl.Float64,
    "ratio": pl.Float64,  # seconds factor by factor divided by seconds of exact updates; the median over the repeats
    "ratio_min": pl.Float64,
    "ratio_max": pl.Float64,
    "quality_by_factor": pl.Float64,  # mean over the seeds
    "quality_exact": pl.Float64,
    "difference": pl.Float64,  # the largest difference between the two qualities of a seed, either way
    **CONDITIONS,
}
FEW_FACTORS = 32  # compared besides the plan's number of factors
SEEDS = (1, 2, 3, 4, 5)


def measure(plan: Plan) -> pl.DataFrame:
    """Compare the updates for all sizes, numbers of factors and numbers of threads."""
    rows: list[Row] = []
    for size in plan.trainings:
        data = hold_out(size, Dataset(simulate(size, plan.scale)), plan.images)
        settings = Judge(plan).choice(VSE_FS, data).settings
        for factors in sorted({FEW_FACTORS, plan.factors}):
            print(f"{size}, K {factors}", flush=True)
            chosen = settings | {"factors": factors}
            quality = qualities(data, chosen, plan)
            rows += [quality | compare(data, chosen, plan, threads) for threads in plan.threads]
    return pl.DataFrame(rows, schema=SCHEMA)


def updating(images: str, seed: int) -> Contestant:
    """Return VSE-fs with an update of the images, "by_factor" or "exact", and a seed."""

    def start(train: LabelMatrix, settings: Settings, pool: Workers) -> Training:
        return Ours("vse_fs", {"gamma": 0.01, "images": images}, train, settings, pool, seed=seed)

    return Contestant(images, images, start, VSE_FS.grid)


def compare(data: Data, settings: Settings, plan: Plan, threads: int) -> Row:
    """Compare the times of iterations on some number of threads."""
    with workers(threads) as pool:
        models = [updating(images, SEEDS[0]).start(data.known, settings, pool) for images in ("exact", "by_factor")]
        turns = [timed(model.epoch, clock_for(threads)) for model in models]
        exact, by_factor = interleave(turns, plan.repeats)
    ratios = [slow / fast for slow, fast in zip(by_factor, exact, strict=True)]
    return {
        "size": data.name,
        "factors": settings["factors"],
        "threads": threads,
        "seconds_by_factor": statistics.median(by_factor),
        "seconds_exact": statistics.median(exact),
        "ratio": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        **conditions(plan.repeats),
    }


def qualities(data: Data, settings: Settings, plan: Plan) -> Row:
    """Train both models with each seed on all cores, and compare their recall@10."""
    by_factor, exact = (
        [trained(images, seed, data, settings, plan) for seed in SEEDS] for images in ("by_factor", "exact")
    )
    return {
        "quality_by_factor": statistics.mean(by_factor),
        "quality_exact": statistics.mean(exact),
        "difference": max(abs(a - b) for a, b in zip(by_factor, exact, strict=True)),
    }


def trained(images: str, seed: int, data: Data, settings: Settings, plan: Plan) -> float:
    """Train a model, and return the recall@10 on the test labels of the epoch that is best on the validation labels."""
    best, quality = -1.0, 0.0
    with workers(max(plan.threads)) as pool:
        training = updating(images, seed).start(data.train, settings, pool)
        for _ in range(plan.trainings[data.name].epochs):
            training.epoch()
            validation = value(training.model(), data.valid, data, pool)
            if validation > best:
                best, quality = validation, value(training.model(), data.test, data, pool)
    return quality
