"""Methods on real images, by the stages from the files to the metrics."""

import json

import numpy as np
import pytest

from tests.stages.small import run
from vsebench.core.storage import read_parquet


def prepare(name, config, mirror, folder, not_needed=()):
    """Prepare a data set in a folder, from files of the mirror; skip the test if one of them is missing."""
    skip_without(mirror, [file.name for file in config.files if file.name not in not_needed])
    data = folder / "data" / name
    definition = json.dumps(config.definition())
    assert run("prepare", "--name", name, "--definition", definition, "--raw", mirror, "--out", data) == 0
    return data


def skip_without(mirror, names):
    missing = [name for name in sorted(names) if not (mirror / name).is_file()]
    if missing:
        pytest.skip(f"VSEBENCH_MIRROR has no {missing[0]}")


def split_of(folder, dataset, protocol, seed):
    return folder / dataset / protocol / f"seed{seed}" / "split"


def fit_arguments(split, dataset, protocol, module, settings):
    keys = ["--dataset", dataset, "--protocol", protocol, "--variant", "variant", "--module", module]
    return ["fit", "--split", split, *keys, "--settings", json.dumps(settings)]


def measured(folder, dataset, protocol, module, settings, columns, features, seeds=(1,), fit_seed=None, options=()):
    """Fit a method on the splits of the seeds, and return metrics of the test images, means over the seeds.

    `features` and `options` are arguments of the stages; `fit_seed` replaces the seeds of the fits.
    """
    for seed in seeds:
        split = split_of(folder, dataset, protocol, seed)
        out = split.parent / "variant"
        fit = fit_arguments(split, dataset, protocol, module, settings)
        assert run(*fit, *features, *options, "--seed", fit_seed or seed, "--out", out) == 0
        assert run("rank", "--split", split, "--model", out / "model.npz", *features, "--threads", 2, "--ranks",
                   out / "ranks.parquet", "--lists", out / "lists.parquet", "--label-ranks",
                   out / "label_ranks.parquet") == 0  # fmt: skip
    keys = ["--dataset", dataset, "--protocol", protocol, "--variants", "variant", "--seeds", *seeds]
    assert run("measure", "--results", folder, *keys, "--metrics", *columns, "--bootstrap", 100, "--out",
               out / "metrics.parquet", "--summary", out / "summary.parquet", "--cold", out / "cold.parquet",
               "--by-frequency", out / "by_frequency.parquet") == 0  # fmt: skip
    table = read_parquet(out / "metrics.parquet")
    return [np.mean(table.filter(metric=name)["value"].to_numpy()) for name in columns]
