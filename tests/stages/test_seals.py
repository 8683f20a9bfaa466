"""Stages refuse files that do not belong together, in one line that names both, and write nothing."""

import json
import shutil

import numpy as np
import polars as pl
import pytest

from tests.packs.runs import METHODS, METRICS, TASK, write_run
from tests.stages.small import inputs, run
from vsebench.core.errors import UserError
from vsebench.core.storage import read_parquet, write_array, write_parquet
from vsebench.data import splits

DATA = f"data/processed/{TASK.dataset}"


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seals")
    write_run(folder)
    return folder


@pytest.fixture
def folder(clean, tmp_path):
    shutil.copytree(clean, tmp_path, dirs_exist_ok=True)
    return tmp_path


def at(folder, seed=1):
    return TASK.folder(folder / "results") / f"seed{seed}"


def rank(folder):
    """Rank again with ridge; return the exit status."""
    files = [f"--{name.replace('_', '-')}={folder / name}.parquet" for name in ("ranks", "lists", "label_ranks")]
    model = ["--model", at(folder) / "ridge/model.npz", *inputs(folder / DATA)]
    return run("rank", "--split", at(folder) / "split", *model, *files)


def measure(folder):
    task = ["--dataset", TASK.dataset, "--protocol", TASK.protocol, "--variants", *METHODS, "--bootstrap", 100]
    out = [f"--{name}={folder / name}.parquet" for name in ("out", "summary", "cold", "by-frequency")]
    return run("measure", "--results", folder / "results", *task, "--seeds", 1, 2, "--metrics", *METRICS, *out)


def fit_again(folder):
    keys = ["--dataset", TASK.dataset, "--protocol", TASK.protocol, "--variant", "random", "--module", "random"]
    return run(
        "fit", "--split", at(folder) / "split", *keys, "--settings", json.dumps({}), "--seed", 1, "--out", folder
    )


def of_other_seed(name):
    return lambda folder: shutil.copy2(at(folder, 2) / name, at(folder, 1) / name)


def rewritten(name, change):
    return lambda folder: write_parquet(change(read_parquet(at(folder) / name)), at(folder) / name)


def features(folder):
    path = folder / DATA / "features.npy"
    write_array(np.load(path)[::-1].copy(), path)


def other_ranks(folder):
    shutil.copy2(at(folder) / "popularity/ranks.parquet", at(folder) / "ridge/ranks.parquet")


@pytest.mark.parametrize(
    ("change", "stage", "message"),
    [
        (of_other_seed("ridge/model.npz"), rank, "seed1/ridge/model.npz: written as sim-groups/images/seed2/ridge"),
        (of_other_seed("split/test.parquet"), rank, "seed1/split/test.parquet: written as sim-groups/images/seed2"),
        (of_other_seed("split/train.parquet"), fit_again, "split/train.parquet: written as sim-groups/images/seed2"),
        (features, rank, "ridge/model.npz: made with another version of "),
        (rewritten("split/final.parquet", pl.DataFrame.reverse), rank, "made with another version of "),
        (other_ranks, measure, "seed1/ridge/ranks.parquet: written as sim-groups/images/seed1/popularity"),
        (
            rewritten("split/labels.parquet", lambda t: t.with_columns(test=True)),
            measure,
            "made with another version of",
        ),
    ],
)
def test_files_that_do_not_belong_together_are_refused(folder, capsys, change, stage, message):
    change(folder)
    before = sorted(folder.rglob("*"))
    assert stage(folder) == 1
    (line,) = (line for line in capsys.readouterr().err.splitlines() if line.startswith("vsebench "))
    assert message in line
    assert "again" in line
    assert sorted(folder.rglob("*")) == before


RANKS = "ridge/ranks.parquet"


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (RANKS, lambda t: t.with_columns(above=pl.lit(-9, pl.Int32)), "the column 'above' has impossible numbers"),
        (RANKS, lambda t: t.with_columns(above=pl.col("negatives") * 100), "the column 'above' has impossible numbers"),
        (RANKS, lambda t: t.with_columns(tied=pl.col("negatives") + 1), "the column 'tied' has impossible numbers"),
        (RANKS, lambda t: t.with_columns(label=pl.col("label") + 1000), "the column 'label' has impossible numbers"),
        (RANKS, lambda t: t.drop("cold"), "has no column 'cold'"),
        (RANKS, lambda t: t.cast({"above": pl.Int64}), "the column 'above' is of type Int64 instead of Int32"),
        ("ridge/lists.parquet", lambda t: t.drop("rank"), "has no column 'rank'"),
    ],
)
def test_tables_with_other_columns_or_impossible_numbers_are_refused(folder, capsys, name, change, message):
    rewritten(name, change)(folder)
    before = sorted(folder.rglob("*"))
    assert measure(folder) == 1
    (line,) = (line for line in capsys.readouterr().err.splitlines() if line.startswith("vsebench "))
    assert line.endswith(f"seed1/{name}: {message}; delete it and run again")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(("table", "column"), [("images", "final"), ("labels", "test"), ("train", "count")])
def test_a_split_with_other_columns_is_refused(folder, table, column):
    path = at(folder) / f"split/{table}.parquet"
    write_parquet(read_parquet(path).drop(column), path)
    with pytest.raises(UserError, match=rf"split/{table}\.parquet: has no column '{column}'; delete it and run again"):
        splits.load(at(folder) / "split")


def test_test_labels_among_the_training_labels_are_refused(folder):
    """The seals do not show it, for example if a protocol is wrong."""
    split = at(folder) / "split"
    test, final = (read_parquet(split / f"{name}.parquet") for name in ("test", "final"))
    write_parquet(pl.concat([final, test.head(3)]).sort("image", "label"), split / "final.parquet")
    with pytest.raises(UserError, match=r"split: test labels that are training labels in final\.parquet: 3, but 0"):
        splits.load(split)


@pytest.mark.parametrize("column", ["image", "label"])
def test_numbers_out_of_range_in_a_split_are_one_line(folder, column):
    path = at(folder) / "split/train.parquet"
    write_parquet(read_parquet(path).with_columns(pl.col(column) + 1000), path)
    with pytest.raises(UserError, match=r"split: not a split \(.*\); delete it and run again"):
        splits.load(at(folder) / "split")
