import argparse
import json

import numpy as np
import polars as pl
import pytest

from vsebench import selection, training
from vsebench.cli import main
from vsebench.core.configuration import Epochs
from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, read_json, read_parquet, write_json, write_parquet
from vsebench.core.workers import workers
from vsebench.evaluation.ranking import read_split
from vsebench.methods.base import Embeddings, EpochReport, Method, Settings
from vsebench.problem import SCHEMA
from vsebench.stages.split import split

SETTINGS = {"factors": 4, "learning_rate": 0.1, "regularisation": 0.01, "deviation": 0.1}


@pytest.fixture
def folder(tmp_path):
    """A split of images in four groups."""
    rng = np.random.default_rng(0)
    rows = [(i, int(label), 1) for i in range(80) for label in 6 * (i % 4) + rng.choice(6, 4, replace=False)]
    pairs = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    for name, part in split(pairs, 80, "distinct", 1).items():
        write_parquet(part, tmp_path / f"split/{name}.parquet")
    write_json({"n_images": 80, "n_labels": 24}, tmp_path / "split/split.json")
    return tmp_path


def common(folder, method="opt_auc", settings=SETTINGS):
    return [
        "--split", str(folder / "split"), "--dataset", "sim-tiny", "--protocol", "distinct", "--row", "my_row",
        "--method", method, "--settings", json.dumps(settings), "--seed", "1",
    ]  # fmt: skip


def select(folder, *, grid=None, epochs=None, metric="ndcg@10", **changes):
    return main([
        "select", *common(folder, **changes), "--grid", json.dumps(grid or {}),
        "--epochs", json.dumps(epochs or {"maximum": 6, "patience": 3}), "--metric", metric, "--images", "1000",
        "--out", str(folder / "selection.json"), "--history", str(folder / "selection.parquet"),
    ])  # fmt: skip


def train(folder, **changes):
    return main([
        "train", *common(folder, **changes), "--processed", str(folder),
        "--selection", str(folder), "--out", str(folder / "model"),
    ])  # fmt: skip


def test_winner_has_the_highest_validation_value(folder):
    assert select(folder, grid={"learning_rate": [1e-6, 0.2], "regularisation": [0.01, 0.02]}) == 0
    result = read_json(folder / "selection.json")
    assert result["n_configurations"] == len(result["tries"]) == 4
    assert result["value"] == max(outcome["value"] for outcome in result["tries"])
    assert result["settings"]["learning_rate"] == 0.2


def test_history_is_the_winners(folder):
    select(folder, grid={"learning_rate": [1e-6, 0.2]})
    result, history = read_json(folder / "selection.json"), read_parquet(folder / "selection.parquet")
    assert history["validation"].max() == result["value"]
    assert history.row(result["epochs"] - 1, named=True)["validation"] == result["value"]
    assert history["epoch"].to_list() == list(range(1, history.height + 1))
    assert (history["seconds"] > 0).all()


def test_patience_stops_training(folder):
    select(folder, settings=SETTINGS | {"learning_rate": 1e-9}, epochs={"maximum": 50, "patience": 2})
    assert read_parquet(folder / "selection.parquet").height < 50


def test_selection_does_not_read_the_test_labels(folder):
    (folder / "split/test.parquet").unlink()
    assert select(folder) == 0


def test_refit_uses_the_chosen_settings_and_epochs_and_all_but_the_test_labels(folder, monkeypatch):
    select(folder, grid={"learning_rate": [1e-6, 0.2]})
    seen = []
    read_split = training.read_split
    monkeypatch.setattr(training, "read_split", lambda *a: seen.append(a[1:]) or read_split(*a))
    (folder / "split/test.parquet").unlink()
    assert train(folder) == 0
    assert seen == [("train", "valid")]
    record, history = read_json(folder / "model/run.json"), read_parquet(folder / "model/history.parquet")
    assert record["selection"]["settings"]["learning_rate"] == 0.2
    refit = history.filter(phase="refit")
    assert refit.height == record["selection"]["epochs"]
    assert refit["validation"].null_count() == refit.height
    assert read_arrays(folder / "model/model.npz")["image"].shape == (80, 4)


def test_one_diverging_configuration_is_recorded_and_passed_over(folder):
    assert select(folder, grid={"learning_rate": [1e12, 0.1]}) == 0
    result = read_json(folder / "selection.json")
    assert result["diverged"] == 1
    assert result["settings"]["learning_rate"] == 0.1


class Growing(Method):
    """Its loss and every number of its model are finite, the products of the model's numbers are not."""

    settings_type = Settings

    def __init__(self, train, settings, seed, workers):
        rows = np.full((train.n_images + train.n_labels, 2), 1e25, dtype=np.float32)
        self.model = Embeddings(rows[: train.n_images], rows[train.n_images :])

    def epoch(self):
        return EpochReport(1.0)

    def scorer(self):
        return self.model


def test_a_model_whose_scores_overflow_has_diverged(folder):
    """It must not end the search for the other configurations."""
    split = folder / "split"
    validation = selection.Validation(read_split(split, "train"), read_parquet(split / "valid.parquet"), "ndcg@10")
    run = selection.Run("sim-tiny", "distinct", "my_row", 1)
    with workers(1) as pool:
        outcome, _ = selection.attempt(Growing, {}, validation, Epochs(maximum=2, patience=1), run, pool)
    assert outcome["value"] is None


def test_all_diverging_stops_with_method_data_set_and_settings(folder, capsys):
    assert select(folder, settings=SETTINGS | {"learning_rate": 1e12}) == 1
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert "my_row on sim-tiny (distinct, seed 1): training diverged" in message
    assert "1000000000000.0" in message
    assert not (folder / "selection.json").exists()


def test_divergence_of_the_refit_leaves_no_model(folder, capsys):
    select(folder)
    chosen = read_json(folder / "selection.json")
    write_json(chosen | {"settings": SETTINGS | {"learning_rate": 1e12}, "epochs": 5}, folder / "selection.json")
    assert train(folder) == 1
    assert "training diverged on training and validation labels together" in capsys.readouterr().err
    assert not (folder / "model").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": "f1"}, "'f1' is none of"),
        ({"settings": SETTINGS | {"typo": 1}}, r"config/methods/my_row.yaml: settings: typo: unknown key"),
        ({"method": "nonsense"}, "there is no module"),
        ({"method": "popularity", "settings": {}}, "popularity is not trained by epochs"),
        ({"epochs": {"maximum": 0, "patience": 1}}, "maximum"),
    ],
)
def test_mistakes_get_one_line(folder, capsys, changes, message):
    assert select(folder, **changes) == 1
    lines = capsys.readouterr().err.strip().splitlines()
    assert message in lines[-1]
    assert "Traceback" not in "".join(lines)


def test_grid_is_every_combination():
    grid = selection.configurations({"a": 0, "b": 0, "c": 9}, {"a": [1, 2], "b": [3, 4]})
    assert grid == [
        {"a": 1, "b": 3, "c": 9}, {"a": 1, "b": 4, "c": 9}, {"a": 2, "b": 3, "c": 9}, {"a": 2, "b": 4, "c": 9},
    ]  # fmt: skip


def test_sample_is_seeded_and_no_larger_than_asked():
    held_out = pl.DataFrame({"image": range(100), "label": range(100)})
    assert selection.sample(held_out, 30, 1).equals(selection.sample(held_out, 30, 1))
    assert not selection.sample(held_out, 30, 1).equals(selection.sample(held_out, 30, 2))
    assert selection.sample(held_out, 30, 1)["image"].n_unique() == 30
    assert selection.sample(held_out, 100, 1) is held_out


def test_settings_on_the_command_line_must_be_json():
    parser = argparse.ArgumentParser()
    selection.add_arguments(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["--settings", "{oops"])


def test_divergence_is_a_users_error_only_at_the_end():
    with pytest.raises(UserError, match="diverged with every setting"):
        selection.best_try([{"value": None, "settings": {}}], selection.Run("d", "p", "m", 1))
