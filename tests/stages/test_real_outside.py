"""Scores that another program computed for real images: 2PKNN on MIRFLICKR's 38 concepts, trained on the odd images.

The expected numbers were computed by another program from the same file, with ties broken by the order of the labels.
In vsebench, ties count against the right label; on average, 36.6 of an image's 38 scores are different.
"""

import json
from pathlib import Path

import pytest

from tests.data_sets import described
from tests.methods.real import measured, skip_without, split_of
from tests.stages.small import run
from vsebench.config.method import read_method_config

SCORES = "mirflickr38_2pknn_scores"
METHODS = Path(__file__).parents[2] / "config/methods"
COLUMNS = ["label_map", "map", "pc_precision@5", "pc_recall@5", "n_plus@5"]
GIVEN = [0.236, 0.416, 0.252, 0.244, 37]


def prepare_split(mirror, folder, name, **changes):
    """Prepare the concepts with other parts and split them; return the folder of the data."""
    skip_without(mirror, [f"{SCORES}.npy", f"{SCORES}.ids.txt", "mirflickr25k_annotations_v080.zip"])
    definition = described("mirflickr38").definition("expected") | {"options": {"prefix": "im"}} | changes
    data = folder / "data" / name
    assert run("prepare", "--name", name, "--definition", json.dumps(definition), "--raw", mirror, "--out", data) == 0
    split = split_of(folder, name, "official", 1)
    assert run("split", "--processed", data, "--protocol", "official", "--seed", 1, "--out", split) == 0
    return data


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def of_scores(mirror, folder, name, data):
    settings = {"file": str(mirror / f"{SCORES}.npy")}
    names = ["--names", data / "labels.parquet"]
    return measured(folder, name, "official", "outside_scores", settings, COLUMNS, [], options=names)


def test_all_images_beside_popularity(mirror, tmp_path):
    even = write(tmp_path / "even.txt", (f"im{number}" for number in range(2, 25_001, 2)))
    data = prepare_split(mirror, tmp_path, "even", features=None, vocabulary={}, partition={"test": even})
    scores = of_scores(mirror, tmp_path, "even", data)
    assert scores == pytest.approx(GIVEN, abs=0.006)
    popularity = measured(tmp_path, "even", "official", "popularity", {}, COLUMNS, [])
    assert popularity[1] > scores[1]  # two concepts are on a third of the images
    assert all(ours < theirs for ours, theirs in zip(popularity[2:], scores[2:], strict=True))


def test_images_with_features_beside_methods_of_this_package(mirror, tmp_path):
    skip_without(mirror, ["mirflickr25k_mobilenetedgetpu.npy", "mirflickr25k_mobilenetedgetpu.ids.txt"])
    known = (mirror / "mirflickr25k_mobilenetedgetpu.ids.txt").read_text(encoding="utf-8").split()
    parts = {
        part: write(tmp_path / f"{part}.txt", (name for name in known if int(name[2:]) % 2 == odd))
        for part, odd in (("train", 1), ("test", 0))
    }
    data = prepare_split(mirror, tmp_path, "both", partition=parts)
    scores = of_scores(mirror, tmp_path, "both", data)
    features = ["--features", data / "features.npy"]
    for variant, settings in (("ridge", {"regularisation": 3000.0}), ("vote_by_cosine", {})):
        config = read_method_config(METHODS / f"{variant}.yaml")
        values = {"normalise": ["standard"]} | config.settings | settings
        ours = measured(tmp_path, "both", "official", config.method, values, COLUMNS, features)
        assert ours[0] > scores[0]
