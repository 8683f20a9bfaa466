"""Labels that were never trained, on real images and words, by the stages from the files to the metrics.

The expected numbers were computed by another program: means over its three draws of labels, which are those of the
seeds 1, 2 and 3. Their standard deviation over the draws is 0.03 to 0.08.
"""

import json
from functools import cache
from pathlib import Path

import pytest

from tests.methods.real import measured, prepare, skip_without, split_of
from tests.stages.small import run
from vsebench.config.dataset import DatasetConfig, WordVectorsConfig
from vsebench.core.yaml_files import read_config

CONFIG = Path(__file__).parents[2] / "config"
WORD_VECTORS = "glove-6b-subset"
COLUMNS, SEEDS = ["f1@5", "map"], (1, 2, 3)
SETS = {
    "corel5k374": {"regularisation": 10.0, "normalise": []},
    "corel5k-densehue": {"regularisation": 100.0, "normalise": ["root", "standard"]},
    "corel5k-network": {"regularisation": 3000.0, "normalise": ["standard"]},
}
RIDGE = {"vectors": "raw"}
EXPECTED = [
    ("corel5k374", "unseen_frequency", {}, [0.147, 0.288]),
    ("corel5k374", "avg_wv_ridge", RIDGE, [0.104, 0.201]),
    ("corel5k374", "conse", RIDGE, [0.095, 0.198]),
    ("corel5k-densehue", "unseen_frequency", {}, [0.209, 0.386]),
    ("corel5k-densehue", "avg_wv_ridge", RIDGE, [0.153, 0.255]),
    ("corel5k-densehue", "conse", RIDGE, [0.119, 0.225]),
    ("corel5k-network", "avg_wv_ridge", RIDGE, [0.207, 0.376]),
    ("corel5k-network", "conse", RIDGE, [0.188, 0.345]),
]


@pytest.fixture(scope="module")
def prepared(mirror, tmp_path_factory):
    """Return a function that prepares a data set with word vectors and three splits, once, and returns the folder."""
    folder = tmp_path_factory.mktemp("unseen")

    @cache
    def prepare_once(name):
        config = read_config(WordVectorsConfig, CONFIG / "word_vectors" / f"{WORD_VECTORS}.yaml")
        skip_without(mirror, [file.name for file in config.files])
        data = prepare(name, read_config(DatasetConfig, CONFIG / "datasets" / f"{name}.yaml"), mirror, folder)
        assert run("word_vectors", "--dataset", name, "--name", WORD_VECTORS,
                   "--definition", json.dumps(config.definition()), "--raw", mirror,
                   "--labels", data / "labels.parquet", "--out", data / "word_vectors.npz",
                   "--rules", data / "word_vectors.parquet",
                   "--summary", data / "word_vectors.json") == 0  # fmt: skip
        for seed in SEEDS:
            split = split_of(folder, name, "unseen_labels", seed)
            assert run("split", "--processed", data, "--word-vectors", data / "word_vectors.npz", "--protocol",
                       "unseen_labels", "--seed", seed, "--out", split) == 0  # fmt: skip
        return folder

    return prepare_once


@pytest.mark.parametrize(("dataset", "module", "settings", "expected"), EXPECTED)
def test_unseen_labels_are_ranked_as_by_another_program(prepared, dataset, module, settings, expected):
    folder = prepared(dataset)
    data = folder / "data" / dataset
    features, words = ["--features", next(data.glob("features.np?"))], ["--word-vectors", data / "word_vectors.npz"]
    values = settings if module == "unseen_frequency" else SETS[dataset] | settings
    metrics = measured(folder, dataset, "unseen_labels", module, values, COLUMNS, features, SEEDS, options=words)
    assert metrics == pytest.approx(expected, abs=0.002)
