"""Varying one setting: the chosen value gives the main result, and a value that diverges gives no row."""

import json

import numpy as np
import polars as pl
import pytest

from vsebench.cli import main
from vsebench.core.storage import read_parquet, write_parquet
from vsebench.evaluation.metrics import mean_metric

SETTINGS = {"factors": 8, "learning_rate": 0.1, "regularisation": 0.01, "deviation": 0.1}


@pytest.fixture
def folder(tmp_path):
    """The split of a small set with four groups of labels, and a selection."""
    rng = np.random.default_rng(3)
    rows = [(image, 6 * (image % 4) + label) for image in range(200) for label in rng.choice(6, 4, replace=False)]
    pairs = pl.DataFrame(rows, schema=["image", "label"], orient="row").with_columns(count=pl.lit(1))
    write_parquet(pairs, tmp_path / "pairs.parquet")
    write_parquet(pl.DataFrame({"image": np.arange(200)}), tmp_path / "images.parquet")
    write_parquet(pl.DataFrame({"label": np.arange(24)}), tmp_path / "labels.parquet")
    run(
        tmp_path, "split", "--processed", tmp_path, "--protocol", "distinct", "--seed", "1", "--out", tmp_path / "split"
    )
    run(tmp_path, "select", *common(tmp_path), *validation(), "--out", tmp_path / "selection.json", "--history",
        tmp_path / "selection.parquet")  # fmt: skip
    return tmp_path


def common(folder):
    keys = ["--dataset", "d", "--protocol", "distinct", "--row", "opt_auc", "--method", "opt_auc", "--seed", "1"]
    return ["--split", folder / "split", *keys, "--settings", json.dumps(SETTINGS)]


def validation():
    return ["--epochs", '{"maximum": 6, "patience": 2}', "--metric", "ndcg@10", "--images", "1000"]


def run(folder, *arguments):
    assert main([str(argument) for argument in arguments]) == 0


def sweep(folder, parameter, values):
    what = ["--selection", folder / "selection.json", "--parameter", parameter, "--values", json.dumps(values)]
    out = ["--ranks", folder / "r.parquet", "--out", folder / "s.parquet"]
    run(folder, "sweep", *common(folder), *validation(), *what, *out)
    return read_parquet(folder / "s.parquet"), read_parquet(folder / "r.parquet")


def test_the_chosen_value_gives_the_main_result(folder):
    (folder / "processed").mkdir()
    run(folder, "train", *common(folder), "--processed", folder / "processed", "--selection", folder, "--out", folder)
    run(folder, "rank", "--split", folder / "split", "--model", folder / "model.npz", "--out", folder / "ranks.parquet")
    table, ranks = sweep(folder, "learning_rate", [0.05, 0.1])
    chosen = table.filter("chosen", metric="ndcg", cutoff=10)
    assert chosen["value"].to_list() == [0.1]
    assert chosen["test"].item() == pytest.approx(mean_metric(read_parquet(folder / "ranks.parquet"), "ndcg@10"))
    assert ranks.filter(value=0.1).drop("value").equals(read_parquet(folder / "ranks.parquet"))
    selection = json.loads((folder / "selection.json").read_text())
    assert chosen["epochs"].item() == selection["epochs"]
    assert chosen["validation"].item() == selection["value"]


def test_a_value_that_diverges_has_no_row(folder):
    table, ranks = sweep(folder, "learning_rate", [0.1, 1e9])
    assert table["value"].unique().to_list() == [0.1]
    assert ranks["value"].unique().to_list() == [0.1]
