"""Planted results that the tests of claims are run on."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tests.builders import frame
from vsebench.core import schemas
from vsebench.core.storage import write_json, write_table
from vsebench.core.tasks import Case, Task
from vsebench.core.yaml_files import check
from vsebench.evaluation.analyses.base import load_analysis
from vsebench.evaluation.measuring import Ranked
from vsebench.evaluation.sets import LabelSets
from vsebench.papers.evidence import Evidence, RunTask
from vsebench.papers.verdicts import load_test

SEEDS = [1, 2, 3]
DATASETS = [
    {"name": "real", "family": "iapr", "simulated": False, "counts": {"labels": 100}},
    {"name": "sim", "family": "iapr", "simulated": True, "counts": {"labels": 100}},
]


def ranks(seed, shift):
    """Return ranks of 400 images among 100 candidates; a larger shift is worse."""
    above = np.random.default_rng(seed).integers(0, 19, 400) + shift
    columns = {"image": np.arange(400), "label": np.zeros(400), "above": above, "tied": np.zeros(400)}
    return pl.DataFrame(columns | {"right": np.ones(400), "negatives": np.full(400, 99), "cold": np.zeros(400)}).cast(
        schemas.RANKS
    )


def write_results(folder):
    """Write results of two methods on real and simulated data: `good` ranks better and needs half the time."""
    timing, history, sweeps = [], [], []
    for entry in DATASETS:
        task = Task(entry["name"], "distinct")
        for method, shift, factor in (("good", 0, 1.0), ("bad", 8, 2.0)):
            for case in (Case(task, method, seed) for seed in SEEDS):
                write_table(ranks(case.seed, shift), schemas.RANKS, case.folder(folder) / "ranks.parquet")
                for epoch in range(1, 21):
                    keys = case.keys | {"epoch": epoch, "seconds": factor * (1 + 0.01 * case.seed), "loss": 1.0}
                    keys |= {"trials_per_step": factor * (1 + 0.1 * epoch)}
                    history.append(keys | {"phase": "selection", "validation": -abs(epoch - 10.0)})
                    history.append(keys | {"phase": "refit", "validation": None})
            for repeat in range(1, 6):
                keys = {"dataset": task.dataset, "protocol": "distinct", "method": method, "phase": "epoch"}
                keys |= {"repeat": repeat, "seconds": factor * (1 + 0.02 * repeat), "peak_rss_bytes": int(1e6 * factor)}
                timing.append(keys)
                all_epochs = {
                    "phase": "training",
                    "seed": SEEDS[(repeat - 1) % len(SEEDS)],
                    "seconds": 10 * keys["seconds"],
                }
                timing.append(keys | all_epochs)
        for case in (Case(task, "good", seed) for seed in SEEDS):
            swept = [ranks(case.seed, 8).with_columns(value=0.0), ranks(case.seed, 0).with_columns(value=0.5)]
            write_table(
                pl.concat(swept).select(*schemas.SWEEP_RANKS),
                schemas.SWEEP_RANKS,
                case.folder(folder) / "sweep" / "a-ranks.parquet",
            )
            keys = case.keys | {"parameter": "a", "metric": "ndcg@10"}
            sweeps += [keys | {"value": 0.0, "validation": 0.2}, keys | {"value": 0.5, "validation": 0.4}]
    write_table(frame(timing, schemas.TIMING), schemas.TIMING, folder / "timing.parquet")
    write_table(frame(history, schemas.HISTORY), schemas.HISTORY, folder / "history.parquet")
    write_table(frame(sweeps, schemas.SWEEPS), schemas.SWEEPS, folder / "sweeps.parquet")
    write_json(DATASETS, folder / "datasets.json")
    write_table(pl.DataFrame(schema=schemas.METRICS), schemas.METRICS, folder / "metrics.parquet")
    write_json([], folder / "settings.json")


# Ratios of five repeats: of seconds, rival over method; of memory, the inverse.
RATIOS = [np.array([1.9, 2.0, 2.0, 2.1, 2.2]), np.array([1.1, 1.3, 1.9, 0.8, 1.5])]


def planted(datasets=("real", "sim")):
    """Return evidence with these ratios in five repeats, on real data sets and a simulated one."""
    timing = [
        {"dataset": dataset, "protocol": "distinct", "method": method, "phase": "epoch", "repeat": repeat}
        | {"seconds": RATIOS[0][repeat] if method == "bad" else 1.0}
        | {"peak_rss_bytes": int(1e9 * RATIOS[1][repeat]) if method == "good" else 10**9}
        for dataset in datasets
        for method in ("good", "bad")
        for repeat in range(5)
    ]
    return Evidence(
        tasks=[
            RunTask(Task(name, "distinct"), "iapr", "simulated" if name == "sim" else "other", ["good", "bad"])
            for name in datasets
        ],
        seeds=SEEDS,
        resamples=100,
        timing=frame(timing, schemas.TIMING),
        history=frame([], schemas.HISTORY),
        sweeps=None,
        scaling=None,
        read_ranks=lambda case: pytest.fail("no ranks are needed"),
        read_sweep_ranks=lambda case, parameter: pytest.fail("no ranks are needed"),
    )


def decided(**changes):
    """Evidence of two variants with two decisions each on 400 images of six labels, of which two are right.

    The decision `sharp` chooses the right labels of most images, `blunt` of few; all else is the same. Fields of the
    evidence can be replaced.
    """
    right = pl.DataFrame({"image": np.repeat(np.arange(400), 2), "label": np.tile([0, 3], 400)})

    def read_sets(case, decision):
        share = {"sharp": 0.8, "blunt": 0.6}[decision]
        hit = np.random.default_rng(case.seed).random(400) < share
        wrong = right.with_columns(pl.when(pl.Series(np.repeat(hit, 2))).then("label").otherwise(pl.col("label") + 1))
        return LabelSets.of_pairs(wrong, right, pl.Series(np.arange(400)), 6)

    def read_ranked(case):
        above = {"one": 0, "other": 1}[case.variant]
        columns = {"above": above, "tied": 0, "negatives": 4, "cold": False}
        table = right.with_columns(pl.lit(value).alias(name) for name, value in columns.items())
        table = table.with_columns(right=pl.int_range(2).over("image") + 1)
        return Ranked(table.select(*schemas.RANKS).cast(schemas.RANKS), pl.DataFrame())

    names = [*("one", "other"), *(f"{name}/{decision}" for name in ("one", "other") for decision in ("sharp", "blunt"))]
    tasks = [RunTask(Task("d", "official"), "other", "other", names)]
    empty = {name: pl.DataFrame() for name in ("timing", "history")}
    evidence = Evidence(tasks, SEEDS, 400, **empty, sweeps=None, scaling=None,
                        read_ranks=lambda case: read_ranked(case).ranks, read_sweep_ranks=None, read_ranked=read_ranked,
                        read_sets=read_sets, n_labels=lambda case: 6)  # fmt: skip
    return replace(evidence, **changes)


def analysed(name, lines):
    """Return the evidence of `decided` with the table of an analysis on its task."""
    rows = [{"dataset": "d", "protocol": "official"} | line for line in lines]
    return decided(on_request={name: frame(rows, load_analysis(name).SCHEMA)})


def effects(test, evidence, **parameters):
    """Return the effect and verdict of each case of a test."""
    made = check(load_test(test, "here"), {"families": ["other"], **parameters}, "here")
    measured = [(case.measured, made.test(evidence, case)) for case in made.cases(evidence)]
    return {name: (effect, made.verdict(effect, effect.p)) for name, effect in measured}


def only_effect(test, evidence, **parameters):
    """Return the effect and verdict of the only case of a test."""
    (outcome,) = effects(test, evidence, **parameters).values()
    return outcome
