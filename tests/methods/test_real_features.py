"""Methods on real images, by the stages from the files to the metrics.

The expected numbers were computed by another program, on the same features with the same normalisation.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.methods.real import fit_arguments, measured, prepare, split_of
from tests.stages.small import run
from vsebench.config.dataset import DatasetConfig
from vsebench.core.storage import features_file
from vsebench.core.yaml_files import read_config

CONFIG = Path(__file__).parents[2] / "config" / "datasets"
WITH_PHOTOGRAPHS = "mirflickr25k.zip"  # has the tags, too, which are also in an archive of their own
# precision@1, map, mean F1 of an image and of a label with five labels predicted, recall@5, label_map
COLUMNS = ["precision@1", "map", "f1@5", "macro_f1@5", "recall@5", "label_map"]
EUCLIDEAN = {"neighbours": 30, "distance": "euclidean"}
BY_DISTANCE = EUCLIDEAN | {"weights": "inverse_distance"}
VOTE = {"neighbours": 50, "weights": "exponential", "sharpness": 20.0, "normalise": ["l2"]}
VOTE_OF_TAGS = {"neighbours": 100, "weights": "exponential", "sharpness": 10.0, "normalise": ["l2"]}
BY_COSINE = {"neighbours": 100, "weights": "cosine"}
ALL_IMAGES = {"neighbours": None, "weights": "cosine", "power": 4.0, "normalise": ["idf", "l2"]}
EXPECTED = [
    ("corel5k374", "popularity", {}, [0.232, 0.216, 0.205, 0.004, 0.254, 0.008]),
    ("corel5k374", "ridge", {"regularisation": 10.0}, [0.406, 0.331, 0.290, 0.045, 0.356, 0.129]),
    ("corel5k374", "ridge", {"regularisation": 30.0, "normalise": []}, [0.380, 0.321, 0.288, 0.051, 0.353, 0.127]),
    ("corel5k374", "nearest_images", BY_COSINE, [0.386, 0.333, 0.291, 0.042, 0.359, 0.124]),
    # The other program has a label_map of 0.135: here it divides the votes of an image by the sum of weights.
    ("corel5k374", "nearest_images", ALL_IMAGES, [0.404, 0.349, 0.306, 0.054, 0.377, 0.124]),
    ("corel5k-densehue", "ridge", {"regularisation": 300.0}, [0.439, 0.362, 0.314, 0.074, 0.384, 0.177]),
    ("corel5k-densehue", "nearest_images", EUCLIDEAN, [0.477, 0.394, 0.341, 0.109, 0.418, 0.163]),
    ("corel5k-densehue", "nearest_images", BY_DISTANCE, [0.483, 0.403, 0.346, 0.123, 0.425, 0.212]),
    ("corel5k-network", "ridge", {"regularisation": 1000.0}, [0.774, 0.623, 0.526, 0.274, 0.642, 0.481]),
    ("corel5k-network", "ridge", {"regularisation": 3000.0}, [0.782, 0.626, 0.519, 0.247, 0.634, 0.489]),
    ("corel5k-network", "nearest_images", EUCLIDEAN, [0.661, 0.540, 0.450, 0.201, 0.549, 0.327]),
    ("corel5k-network", "nearest_images", BY_DISTANCE, [0.659, 0.550, 0.463, 0.227, 0.565, 0.391]),
    ("corel5k-network", "nearest_images", VOTE, [0.782, 0.647, 0.532, 0.335, 0.650, 0.432]),
]
EXPECTED_OF_MIRFLICKR = [
    ("mirflickr-tags457", "popularity", {}, [0.069, 0.069, 0.047, 0.001, 0.061, 0.004]),
    ("mirflickr-tags457", "ridge", {"regularisation": 10000.0}, [0.262, 0.206, 0.157, 0.072, 0.230, 0.099]),
    ("mirflickr-tags457", "nearest_images", VOTE_OF_TAGS, [0.267, 0.208, 0.155, 0.085, 0.225, 0.079]),
    ("mirflickr-tags1386", "ridge", {"regularisation": 10000.0}, [0.241, 0.154, 0.133, 0.032, 0.167, 0.077]),
    ("mirflickr-tags1386", "nearest_images", VOTE_OF_TAGS, [0.253, 0.160, 0.133, 0.045, 0.168, 0.061]),
    ("mirflickr38", "ridge", {"regularisation": 3000.0}, [0.903, 0.834, 0.616, 0.526, 0.736, 0.720]),
    ("mirflickr38", "ridge", {"regularisation": 10000.0}, [0.901, 0.835, 0.615, 0.512, 0.736, 0.714]),
]
CASES = [*EXPECTED, *(pytest.param(*case, marks=pytest.mark.long) for case in EXPECTED_OF_MIRFLICKR)]


@pytest.fixture(scope="module")
def prepared(mirror, tmp_path_factory):
    """Return a function that prepares a data set and its official split, once, and returns features and folder."""
    folder = tmp_path_factory.mktemp("real")

    @cache
    def prepare_once(name):
        config = read_config(DatasetConfig, CONFIG / f"{name}.yaml")
        data = prepare(name, config, mirror, folder, not_needed=[WITH_PHOTOGRAPHS])
        split = split_of(folder, name, "official", 1)
        assert run("split", "--processed", data, "--protocol", "official", "--seed", 1, "--out", split) == 0
        return config, ["--features", data / features_file("", config.sets[""].is_sparse)], folder

    return prepare_once


def metrics_of(prepared, dataset, module, settings, columns, seed=1, options=()):
    config, features, folder = prepared(dataset)
    if module == "popularity":
        return measured(folder, dataset, "official", module, settings, columns, [])
    settings = {"normalise": config.normalise} | settings
    return measured(folder, dataset, "official", module, settings, columns, features, fit_seed=seed, options=options)


@pytest.mark.parametrize(("dataset", "module", "settings", "expected"), CASES)
def test_accuracy_is_that_of_another_program(prepared, dataset, module, settings, expected):
    assert metrics_of(prepared, dataset, module, settings, COLUMNS) == pytest.approx(expected, abs=0.002)


# MAP of another program, means over three seeds, of which differences of 0.004 are noise.
BLOBS = {"normalise": [], "dropout": 0.5, "hidden": [256], "learning_rate": 1e-3}
LINEAR = {"normalise": [], "hidden": [], "learning_rate": 1e-2}
DENSE = {"dropout": 0.5, "hidden": [256], "learning_rate": 3e-4}
SCENE = DENSE | {"learning_rate": 1e-3}
NETWORKS = [
    ("corel5k374", "lsep", BLOBS, 0.351),
    ("corel5k374", "network_softmax", BLOBS, 0.349),
    ("corel5k374", "bce", BLOBS, 0.349),
    ("corel5k374", "network_warp", BLOBS | {"learning_rate": 3e-3}, 0.347),
    ("corel5k374", "zlpr", BLOBS, 0.346),
    ("corel5k374", "bp_mll", BLOBS, 0.335),
    ("corel5k374", "ranking_hinge", BLOBS, 0.333),
    ("corel5k374", "ranking_hinge", BLOBS | {"weighted": True}, 0.327),
    ("corel5k374", "lsep", BLOBS | {"weighted": True}, 0.347),
    ("corel5k374", "lsep", LINEAR, 0.322),
    ("corel5k374", "bce", LINEAR, 0.328),
    ("scene", "lsep", SCENE, 0.864),
    ("scene", "bce", SCENE, 0.869),
    ("scene", "bp_mll", SCENE, 0.853),
    ("corel5k-network", "lsep", DENSE, 0.646),
    ("corel5k-network", "bce", DENSE, 0.649),
    ("mirflickr38", "lsep", DENSE, 0.845),
    ("mirflickr38", "bce", DENSE, 0.845),
]


@pytest.mark.long
@pytest.mark.parametrize(("dataset", "module", "settings", "floor"), NETWORKS)
def test_networks_are_as_good_as_those_of_another_program(prepared, dataset, module, settings, floor):
    epochs = ["--metric", "map", "--images", 20000, "--epochs", '{"maximum": 60, "patience": 8}']
    actual = [metrics_of(prepared, dataset, module, settings, ["map"], seed, epochs) for seed in (1, 2, 3)]
    assert np.mean(actual) > floor - 0.01


@pytest.mark.parametrize(("module", "rate", "status"), [("bp_mll", 0.1, 1), ("bp_mll", 0.003, 0), ("lsep", 0.1, 0)])
def test_without_a_logarithm_scores_overflow_at_a_rate_that_lsep_stands(prepared, capsys, module, rate, status):
    _, features, folder = prepared("corel5k374")
    split = split_of(folder, "corel5k374", "official", 1)
    settings = BLOBS | {"learning_rate": rate, "dropout": 0.0}
    fit = fit_arguments(split, "corel5k374", "official", module, settings)
    assert run(*fit, *features, "--metric", "map", "--images", 500, "--epochs", '{"maximum": 30, "patience": 30}',
               "--seed", 1, "--out", split.parent / module) == status  # fmt: skip
    assert ("diverged" in capsys.readouterr().err) == (status == 1)
