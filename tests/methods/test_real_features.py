"""Ridge regression and nearest images on the real Corel 5k, by the stages from the archive to the metrics.

The expected numbers were computed by another program, on the same features with the same normalisation.
"""

import json
from pathlib import Path

import pytest

from tests.stages.small import run
from vsebench.core.configuration import DatasetConfig, read_config
from vsebench.core.storage import read_parquet

CONFIG = Path(__file__).parents[2] / "config" / "datasets"
# precision@1, map, mean F1 of an image and of a label with five labels predicted, recall@5, label_map
METRICS = ["precision@1", "map", "f1@5", "macro_f1@5", "recall@5", "label_map"]
EUCLIDEAN = {"neighbours": 30, "distance": "euclidean"}
VOTE = {"neighbours": 50, "weights": "exponential", "sharpness": 20.0, "normalise": ["l2"]}
EXPECTED = {
    ("corel5k-densehue", "ridge", '{"regularisation": 300.0}'): [0.439, 0.362, 0.314, 0.074, 0.384, 0.177],
    ("corel5k-densehue", "nearest_images", json.dumps(EUCLIDEAN)): [0.477, 0.394, 0.341, 0.109, 0.418, 0.163],
    ("corel5k-densehue", "nearest_images", json.dumps(EUCLIDEAN | {"weights": "inverse_distance"})): [
        0.483, 0.403, 0.346, 0.123, 0.425, 0.212,
    ],
    ("corel5k-network", "ridge", '{"regularisation": 1000.0}'): [0.774, 0.623, 0.526, 0.274, 0.642, 0.481],
    ("corel5k-network", "ridge", '{"regularisation": 3000.0}'): [0.782, 0.626, 0.519, 0.247, 0.634, 0.489],
    ("corel5k-network", "nearest_images", json.dumps(EUCLIDEAN)): [0.661, 0.540, 0.450, 0.201, 0.549, 0.327],
    ("corel5k-network", "nearest_images", json.dumps(EUCLIDEAN | {"weights": "inverse_distance"})): [
        0.659, 0.550, 0.463, 0.227, 0.565, 0.391,
    ],
    ("corel5k-network", "nearest_images", json.dumps(VOTE)): [0.782, 0.647, 0.532, 0.335, 0.650, 0.432],
}  # fmt: skip
NORMALISE = {"corel5k-densehue": ["root", "standard"], "corel5k-network": ["standard"]}


@pytest.fixture(scope="module")
def processed(mirror, tmp_path_factory):
    """Prepare both data sets, each with its official split."""
    folder = tmp_path_factory.mktemp("corel5k")
    for name in NORMALISE:
        config = read_config(DatasetConfig, CONFIG / f"{name}.yaml")
        missing = [file.name for file in config.files if not (mirror / file.name).is_file()]
        if missing:
            pytest.skip(f"VSEBENCH_MIRROR has no {missing[0]}")
        data = folder / "data" / name
        definition = json.dumps(config.definition())
        assert run("prepare", "--name", name, "--definition", definition, "--raw", mirror, "--out", data) == 0
        split = folder / name / "official" / "seed1" / "split"
        assert run("split", "--processed", data, "--protocol", "official", "--seed", 1, "--out", split) == 0
    return folder


@pytest.mark.parametrize(("dataset", "module", "settings"), EXPECTED)
def test_accuracy_is_that_of_another_program(processed, dataset, module, settings):
    data, split = processed / "data" / dataset, processed / dataset / "official" / "seed1" / "split"
    out = split.parent / "row"
    values = {"normalise": NORMALISE[dataset]} | json.loads(settings)
    keys = ["--dataset", dataset, "--protocol", "official"]
    features = ["--features", data / "features.npy"]
    assert run("fit", "--split", split, *features, *keys, "--row", "row", "--module", module, "--settings",
               json.dumps(values), "--seed", 1, "--out", out) == 0  # fmt: skip
    assert run("rank", "--split", split, "--model", out / "model.npz", *features, "--threads", 2, "--ranks",
               out / "ranks.parquet", "--lists", out / "lists.parquet", "--label-ranks",
               out / "label_ranks.parquet") == 0  # fmt: skip
    assert run("measure", "--results", processed, *keys, "--rows", "row", "--seeds", 1, "--metrics", *METRICS,
               "--bootstrap", 100, "--out", out / "metrics.parquet", "--summary",
               out / "summary.parquet") == 0  # fmt: skip
    found = dict(read_parquet(out / "metrics.parquet").select("metric", "value").iter_rows())
    assert [found[name] for name in METRICS] == pytest.approx(EXPECTED[dataset, module, settings], abs=0.002)
