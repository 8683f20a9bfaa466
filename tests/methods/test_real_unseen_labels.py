"""Labels that were never trained, on real images and words, by the stages from the files to the metrics.

The expected numbers were computed by another program: means over its three draws of labels, which are those of the
seeds 1, 2 and 3. Their standard deviation over the draws is 0.03 to 0.08.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.stages.small import run
from vsebench.config.dataset import DatasetConfig, WordVectorsConfig
from vsebench.core.storage import read_parquet
from vsebench.core.yaml_files import read_config

CONFIG = Path(__file__).parents[2] / "config"
WORD_VECTORS = "glove-6b-subset"
COLUMNS = ["f1@5", "map"]
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
    """Return what prepares a data set with words and three splits, once: the folder of all."""
    folder = tmp_path_factory.mktemp("unseen")

    @cache
    def prepare(name):
        config, word_vectors = read_config(DatasetConfig, CONFIG / "datasets" / f"{name}.yaml"), word_vectors_config()
        missing = [file.name for file in (*config.files, *word_vectors.files) if not (mirror / file.name).is_file()]
        if missing:
            pytest.skip(f"VSEBENCH_MIRROR has no {missing[0]}")
        data = folder / "data" / name
        assert run("prepare", "--name", name, "--definition", json.dumps(config.definition()), "--raw", mirror,
                   "--out", data) == 0  # fmt: skip
        assert run("word_vectors", "--dataset", name, "--name", WORD_VECTORS,
                   "--definition", json.dumps(word_vectors.definition()), "--raw", mirror,
                   "--labels", data / "labels.parquet", "--out", data / "word_vectors.npz",
                   "--rules", data / "word_vectors.parquet",
                   "--summary", data / "word_vectors.json") == 0  # fmt: skip
        for seed in (1, 2, 3):
            assert run("split", "--processed", data, "--word-vectors", data / "word_vectors.npz", "--protocol",
                       "unseen_labels", "--seed", seed, "--out", split_of(folder, name, seed)) == 0  # fmt: skip
        return folder

    return prepare


def word_vectors_config():
    return read_config(WordVectorsConfig, CONFIG / "word_vectors" / f"{WORD_VECTORS}.yaml")


def split_of(folder, name, seed):
    return folder / name / "unseen_labels" / f"seed{seed}" / "split"


def measured(folder, name, module, settings):
    """Fit a row on three draws of labels, and return its metrics, means over the draws."""
    data = folder / "data" / name
    features = ["--features", next(data.glob("features.np?"))]
    keys = ["--dataset", name, "--protocol", "unseen_labels"]
    for seed in (1, 2, 3):
        split = split_of(folder, name, seed)
        out = split.parent / "row"
        assert run("fit", "--split", split, *features, "--word-vectors", data / "word_vectors.npz", *keys,
                   "--variant", "row",
                   "--module", module, "--settings", json.dumps(settings), "--seed", seed,
                   "--out", out) == 0  # fmt: skip
        assert run("rank", "--split", split, "--model", out / "model.npz", *features, "--ranks", out / "ranks.parquet",
                   "--lists", out / "lists.parquet") == 0  # fmt: skip
    assert run("measure", "--results", folder, *keys, "--variants", "row", "--seeds", 1, 2, 3, "--metrics", *COLUMNS,
               "--bootstrap", 100, "--out", out / "metrics.parquet", "--summary",
               out / "summary.parquet", "--cold", out / "cold.parquet",
               "--by-frequency", out / "by_frequency.parquet") == 0  # fmt: skip
    table = read_parquet(out / "metrics.parquet")
    return [np.mean(table.filter(metric=name)["value"].to_numpy()) for name in COLUMNS]


@pytest.mark.parametrize(("dataset", "module", "settings", "expected"), EXPECTED)
def test_unseen_labels_are_ranked_as_by_another_program(prepared, dataset, module, settings, expected):
    values = settings if module == "unseen_frequency" else SETS[dataset] | settings
    assert measured(prepared(dataset), dataset, module, values) == pytest.approx(expected, abs=0.002)
