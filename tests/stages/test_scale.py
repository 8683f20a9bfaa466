"""Growth of times, measured for the smallest sizes."""

import json
from pathlib import Path

import pytest

from vsebench.cli import main
from vsebench.core.storage import read_parquet
from vsebench.stages.scale import simulate, simulator_options

CONFIG = Path(__file__).parents[2] / "config" / "datasets"
SETTINGS = {"factors": 8, "learning_rate": 0.1, "regularisation": 0.01, "deviation": 0.1}

VOTE = {"neighbours": 5, "distance": "cosine", "weights": "cosine", "power": 1.0, "normalise": ["l2"]}


def test_the_simulated_matrix_has_the_wanted_sizes():
    matrix = simulate(simulator_options(CONFIG / "sim-nuswide.yaml", {}), 4000, 200)
    assert matrix.n_labels == 200
    assert matrix.n_pairs == 4000
    assert matrix.n_rows == pytest.approx(4000 * 269648 / 2286521, abs=1)


def test_every_size_is_measured_in_every_repeat(tmp_path):
    sizes = {"pairs": [500, 1000], "labels": [50, 100], "factors": [4, 8]}
    arguments = [
        "stage",
        "scale",
        "--dataset",
        str(CONFIG / "sim-nuswide.yaml"),
        "--repeats",
        "2",
        "--sizes",
        json.dumps(sizes),
    ]
    arguments += ["--variants", json.dumps({"a": ["opt_auc", SETTINGS]}), "--out", str(tmp_path / "scaling.parquet")]
    assert main(arguments) == 0
    table = read_parquet(tmp_path / "scaling.parquet")
    assert len(table) == 2 * 6
    assert (table["seconds"] > 0).all()
    assert table.filter(variable="labels")["pairs"].unique().to_list() == [1000]
    assert sorted(table.filter(variable="factors")["factors"].unique()) == [4, 8]
    assert table["phase"].unique().to_list() == ["epoch"]
    assert table["terms"].null_count() == len(table)


def test_the_time_to_score_an_image_is_measured_against_training_images_and_terms(tmp_path):
    options = {"labels": 20, "terms": 300, "terms_per_node": 20}
    methods = {"a": ["nearest_images", VOTE]}
    sizes = {"images": [50, 100, 200], "terms": [10, 40]}
    arguments = ["stage", "scale", "--dataset", str(CONFIG / "sim-tree.yaml"), "--options", json.dumps(options)]
    arguments += ["--repeats", "2", "--sizes", json.dumps(sizes), "--variants", json.dumps(methods)]
    assert main([*arguments, "--out", str(tmp_path / "scaling.parquet")]) == 0
    table = read_parquet(tmp_path / "scaling.parquet")
    assert len(table) == 2 * 5
    assert table["phase"].unique().to_list() == ["score"]
    assert (table["seconds"] > 0).all()
    by_images = table.filter(variable="images")
    assert sorted(by_images["images"].unique()) == sorted(by_images["size"].unique()) == [50, 100, 200]
    assert by_images["terms"].n_unique() == 1  # the same images are scored
    by_terms = table.filter(variable="terms")
    assert by_terms["images"].unique().to_list() == [100]
    few, many = sorted(by_terms["terms"].unique())
    assert few < 10.5  # fewer than drawn, since some are drawn twice
    assert 2.5 * few < many < 40.5


def test_a_wrong_option_of_the_simulated_data_is_one_line(tmp_path, capsys):
    arguments = [
        "stage",
        "scale",
        "--dataset",
        str(CONFIG / "sim-tree.yaml"),
        "--options",
        '{"trems": 3}',
        "--variants",
        "{}",
    ]
    arguments += ["--sizes", '{"images": [1, 2]}', "--repeats", "1", "--out", str(tmp_path / "scaling.parquet")]
    assert main(arguments) == 1
    assert "sim-tree.yaml: options: trems: unknown key" in capsys.readouterr().err


def test_real_data_cannot_be_varied(tmp_path, capsys):
    arguments = ["stage", "scale", "--dataset", str(CONFIG / "corel5k.yaml"), "--repeats", "1", "--variants", "{}"]
    assert main([*arguments, "--sizes", '{"pairs": [1, 2]}', "--out", str(tmp_path / "scaling.parquet")]) == 1
    assert "only with the adapters simulator and simulated_tree" in capsys.readouterr().err
