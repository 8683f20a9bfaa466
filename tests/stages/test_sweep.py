"""A sweep: the chosen value gives the main result, and a value that diverges gives no row."""

import json

import polars as pl
import pytest

from tests.stages.small import EPOCHS, SETTINGS, case, fit, run, split, write_processed
from vsebench.core.schemas import SWEEP_RANKS, SWEEPS
from vsebench.core.storage import read_json, read_parquet
from vsebench.evaluation.metrics import mean_metric


@pytest.fixture
def folder(tmp_path):
    """A split and a fitted row."""
    write_processed(tmp_path)
    assert split(tmp_path) == 0
    assert fit(tmp_path) == 0
    return tmp_path


def sweep(folder, parameter, values, grid=None, beyond=0):
    what = ["--chosen", folder / "model/run.json", "--parameter", parameter, "--values", json.dumps(values)]
    what += ["--grid", json.dumps(grid or {}), "--beyond", beyond]
    what += ["--epochs", json.dumps(EPOCHS), "--metric", "ndcg@10", "--images", 1000]
    assert run("sweep", *case(folder), *what, "--ranks", folder / "r.parquet", "--out", folder / "s.parquet") == 0
    files = ["--sweeps", folder / "s.parquet", "--ranks", folder / "r.parquet", "--metrics", "ndcg@10", "mrr"]
    assert run("measure_sweeps", *files, "--out", folder / "sweeps.parquet") == 0
    return read_parquet(folder / "sweeps.parquet"), read_parquet(folder / "r.parquet")


def test_the_chosen_value_gives_the_main_result(folder):
    model = ["--split", folder / "split", "--model", folder / "model/model.npz"]
    assert run("rank", *model, "--ranks", folder / "ranks.parquet", "--lists", folder / "lists.parquet") == 0
    main = read_parquet(folder / "ranks.parquet")
    table, ranks = sweep(folder, "learning_rate", [0.05, SETTINGS["learning_rate"]])
    assert table.schema == pl.Schema(SWEEPS)
    assert ranks.schema == pl.Schema(SWEEP_RANKS)
    assert table["metric"].to_list() == ["ndcg@10", "mrr"] * 2
    chosen = table.filter("chosen", metric="ndcg@10")
    assert chosen["value"].to_list() == [SETTINGS["learning_rate"]]
    assert chosen["test"].item() == pytest.approx(mean_metric(main, "ndcg@10"))
    assert ranks.filter(value=SETTINGS["learning_rate"]).drop("value").equals(main)
    selection = read_json(folder / "model/run.json")["selection"]
    assert chosen["epochs"].item() == selection["epochs"]
    assert chosen["at_limit"].item() == selection["at_limit"]
    assert chosen["validation"].item() == selection["value"]


def test_the_main_result_is_what_training_again_would_give(folder):
    """With a grid of its own, a sweep trains again; a grid with one value leaves it nothing else to choose."""
    value = SETTINGS["learning_rate"]
    taken, ranks_taken = sweep(folder, "learning_rate", [value])
    trained, ranks_trained = sweep(folder, "learning_rate", [value], {"regularisation": [SETTINGS["regularisation"]]})
    assert taken.equals(trained)
    assert ranks_taken.equals(ranks_trained)


def test_the_main_result_is_not_trained_again(folder, monkeypatch):
    monkeypatch.setattr("vsebench.stages.sweep.select", None)
    table, _ = sweep(folder, "learning_rate", [SETTINGS["learning_rate"]])
    assert table["chosen"].all()


@pytest.mark.parametrize("maximum", [1, 200])
def test_a_value_whose_fit_stopped_at_its_limit_says_so(folder, monkeypatch, maximum):
    monkeypatch.setitem(EPOCHS, "maximum", maximum)
    table, _ = sweep(folder, "learning_rate", [0.05])
    assert table["at_limit"].unique().to_list() == [maximum == 1]


def test_a_value_that_diverges_has_no_row(folder):
    table, ranks = sweep(folder, "learning_rate", [0.1, 1e9])
    assert table["value"].unique().to_list() == [0.1]
    assert ranks["value"].unique().to_list() == [0.1]


def test_other_settings_of_the_grid_are_chosen_anew_at_each_value(folder):
    alone = [sweep(folder, "learning_rate", [0.02, 0.05], {"regularisation": [value]})[0] for value in (0.5, 0.01)]
    both, _ = sweep(folder, "learning_rate", [0.02, 0.05], {"regularisation": [0.5, 0.01], "learning_rate": [9.0]})
    for value in (0.02, 0.05):
        best = max(table.filter(metric="mrr", value=value)["validation"].item() for table in alone)
        assert both.filter(metric="mrr", value=value)["validation"].item() == best


def test_at_each_value_the_search_goes_on_beyond_the_grid(folder):
    grid = {"regularisation": [0.5, 1.0]}
    inside, further = (sweep(folder, "learning_rate", [0.05], grid, beyond)[0] for beyond in (0, 4))
    steps = [2.0**step for step in range(-5, 5)]  # the grid, and four steps beyond each edge
    by_hand = [sweep(folder, "learning_rate", [0.05], {"regularisation": [value]})[0] for value in steps]
    first, last, *each = (table.filter(metric="mrr")["validation"].item() for table in (inside, further, *by_hand))
    assert first < last <= max(each)
    assert last in each


def test_without_chosen_settings_there_is_one_line(folder, capsys):
    what = ["--parameter", "learning_rate", "--values", "[0.1]", "--ranks", folder / "r", "--out", folder / "s"]
    what += ["--epochs", json.dumps(EPOCHS), "--metric", "ndcg@10", "--images", 1000]
    assert run("sweep", *case(folder), *what) == 1
    assert capsys.readouterr().err.splitlines() == [
        "vsebench sweep: --chosen: missing; name the run.json with the chosen settings, of which a sweep varies one"
    ]


def test_without_a_metric_there_is_one_line(folder, capsys):
    what = ["--parameter", "regularisation", "--values", "[1.0]", "--ranks", folder / "r", "--out", folder / "s"]
    assert run("sweep", *case(folder, module="ease", settings={"regularisation": 1.0}), *what) == 1
    assert "--metric: missing, but a sweep needs a validation metric" in capsys.readouterr().err.splitlines()[-1]
