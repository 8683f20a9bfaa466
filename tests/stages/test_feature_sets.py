"""Two sets of features of one data set, from the user's files to ranks, times, an analysis and annotated images."""

import json

import numpy as np
import polars as pl
import pytest

from tests import data_sets
from tests.stages.small import EPOCHS, run, split
from vsebench.core.storage import read_json
from vsebench.data.needs import FEATURES

N, GROUPS = 80, 4
IDS = [f"i{number:02}" for number in range(N)]
SETTINGS = {"regularisation": 1.0, "normalise": {"hue": ["l2"], "network": ["standard"]}}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Images in four groups, each with the label of its group and one of all images; two images lack a set.

    A number of hue separates the first two groups from the others, a number of network odd from even groups.
    """
    folder = tmp_path_factory.mktemp("sets")
    rng = np.random.default_rng(0)
    group = np.arange(N) % GROUPS
    lines = [f"{image},g{number}" for image, number in zip(IDS, group, strict=True)]
    (folder / "tags.csv").write_text("\n".join(["image,label", *lines, *(f"{image},all" for image in IDS)]) + "\n")
    hue = np.column_stack([np.where(group < 2, 1, -1), rng.normal(0, 0.1, N)]).astype(np.float32)
    network = np.column_stack([rng.normal(0, 0.1, (N, 2)), np.where(group % 2, 30, -30)]).astype(np.float16)
    np.save(folder / "hue.npy", hue[1:])
    np.save(folder / "network.npy", network[::-1][1:])  # in another order, without the last image
    (folder / "hue.txt").write_text("".join(f"{image}\n" for image in IDS[1:]))
    (folder / "network.txt").write_text("".join(f"{image}\n" for image in IDS[::-1][1:]))
    definition = {"adapter": "table", "options": {"pairs": str(folder / "tags.csv")}}
    definition["features"] = {
        name: {"file": str(folder / f"{name}.npy"), "ids": str(folder / f"{name}.txt")} for name in ("hue", "network")
    }
    assert data_sets.prepare(definition, folder / "raw", folder / "out", name="mine") == 0
    assert split(folder / "out", "images") == 0
    return folder / "out"


def files(folder, *names):
    return [folder / f"features-{name}.npy" for name in names]


def fitted(folder, *names, model="model"):
    settings = SETTINGS | {"normalise": {name: SETTINGS["normalise"][name] for name in names}}
    arguments = ["--split", folder / "split", "--features", *files(folder, *names), "--dataset", "mine"]
    arguments += ["--protocol", "images", "--variant", "ridge", "--module", "ridge", "--seed", 1]
    out = folder / "-".join(names)
    assert run("fit", *arguments, "--settings", json.dumps(settings), "--out", out) == 0
    return out


def precision(folder, out, *names):
    """Return the share of test images whose own group is ranked first of the groups."""
    ranks = [
        "--ranks",
        out / "ranks.parquet",
        "--lists",
        out / "lists.parquet",
        "--label-ranks",
        out / "labels.parquet",
    ]
    given = ["--split", folder / "split", "--model", out / "model.npz", "--features", *files(folder, *names)]
    assert run("rank", *given, *ranks) == 0
    return (pl.read_parquet(out / "ranks.parquet").group_by("image").agg(pl.col("above").max())["above"] == 0).mean()


def test_prepared_are_a_file_per_set_and_the_images_that_have_both(prepared):
    names = {path.name for path in prepared.iterdir()}
    assert {"features-hue.npy", "features-network.npy"} < names
    assert "features.npy" not in names
    images = pl.read_parquet(prepared / "images.parquet")
    assert images.filter(~pl.col("has_features"))["id"].to_list() == [IDS[0], IDS[-1]]
    summary = read_json(prepared / "summary.json")
    assert summary["features"] is None
    assert {name: (found["dimensions"], found["dtype"]) for name, found in summary["feature_sets"].items()} == {
        "hue": (2, "float32"), "network": (3, "float16"),
    }  # fmt: skip
    both = FEATURES.load(files(prepared, "hue", "network"))
    rows = both.rows(np.arange(N))
    assert not rows[[0, N - 1]].any()
    assert np.sign(rows[1:-1, 0]).tolist() == [1 if number % 4 < 2 else -1 for number in range(1, N - 1)]
    assert np.sign(rows[1:-1, 4]).tolist() == [1 if number % 2 else -1 for number in range(1, N - 1)]


def test_a_model_of_both_sets_finds_what_neither_set_tells(prepared):
    seen = (["hue"], ["network"], ["hue", "network"])
    shares = [precision(prepared, fitted(prepared, *names), *names) for names in seen]
    assert max(shares[:2]) < 0.9
    assert shares[2] == 1
    record = read_json(prepared / "hue-network" / "run.json")
    assert record["features"] == ["hue", "network"]
    assert record["selection"]["settings"]["normalise"] == SETTINGS["normalise"]


def test_a_method_is_timed_with_the_sets_that_it_sees(prepared, tmp_path):
    results = tmp_path / "results"
    (results / "mine" / "images" / "seed1").mkdir(parents=True)
    (results / "mine" / "images" / "seed1" / "split").symlink_to(prepared / "split")
    for variant, names in {"both": ["hue", "network"], "hue": ["hue"]}.items():
        (results / "mine" / "images" / "seed1" / variant).symlink_to(fitted(prepared, *names))
    arguments = ["time", "--results", results, "--features", *files(prepared, "hue", "network"), "--dataset", "mine"]
    arguments += ["--protocol", "images", "--seeds", "[1]", "--variants", json.dumps({"both": "ridge", "hue": "ridge"})]
    arguments += ["--feature-sets", json.dumps({"hue": ["hue"]}), "--epochs", EPOCHS["maximum"]]
    assert run(*arguments, "--out", tmp_path / "timing.parquet") == 0
    timing = pl.read_parquet(tmp_path / "timing.parquet")
    assert timing.group_by("method").len().sort("method").rows() == [("both", 3), ("hue", 3)]
    by_model = dict(timing.select("method", "model_bytes").unique().rows())
    assert by_model["both"] > by_model["hue"]


def annotate(prepared, out, tmp_path, features, *ids):
    labels = ["--labels", prepared / "labels.parquet", "--top", 2, "--out", tmp_path / "found.csv"]
    given = ["--features", *features, *(["--ids", *ids] if ids else [])]
    return run("annotate", "--model", out / "model.npz", *labels, *given)


def test_new_images_are_annotated_from_a_file_per_set(prepared, tmp_path, capsys):
    out = fitted(prepared, "hue", "network")
    np.save(tmp_path / "hue.npy", np.array([[1, 0], [-1, 0]], dtype=np.float32))
    np.save(tmp_path / "network.npy", np.array([[0, 0, -30], [0, 0, 30]], dtype=np.float32))
    (tmp_path / "a.txt").write_text("x\ny\n")
    (tmp_path / "b.txt").write_text("y\nx\n")
    paths = [tmp_path / "hue.npy", tmp_path / "network.npy"]
    for ids, groups in ((["a.txt"], ["g0", "g3"]), (["a.txt", "b.txt"], ["g1", "g2"])):
        assert annotate(prepared, out, tmp_path, paths, *(tmp_path / name for name in ids)) == 0
        found = pl.read_csv(tmp_path / "found.csv")
        assert [set(found.filter(image=image)["label"]) for image in "xy"] == [{"all", group} for group in groups]
    capsys.readouterr()
    (tmp_path / "b.txt").write_text("y\nz\n")
    mistakes = {
        "number of files: 1; the model needs one for each of these sets, in this order: hue (2 numbers per i": [
            paths[:1]
        ],
        "3 numbers per image, but the model was fitted to 2 in the set hue": [paths[::-1]],
        "only one of them has a row for '": [paths, tmp_path / "a.txt", tmp_path / "b.txt"],
        "number of files: 3 in --ids, 2 in --features": [paths, *3 * [tmp_path / "a.txt"]],
    }
    for message, (features, *ids) in mistakes.items():
        assert annotate(prepared, out, tmp_path, features, *ids) != 0
        assert message in capsys.readouterr().err


def test_sets_without_a_common_image_are_refused(prepared, tmp_path, capsys):
    folder = prepared.parent
    (tmp_path / "ids.txt").write_text(f"{IDS[0]}\n" + "".join(f"x{number}\n" for number in range(N - 2)))
    features = {
        "hue": {"file": str(folder / "hue.npy"), "ids": str(folder / "hue.txt")},
        "network": {"file": str(folder / "network.npy"), "ids": str(tmp_path / "ids.txt")},
    }
    definition = {"adapter": "table", "options": {"pairs": str(folder / "tags.csv")}, "features": features}
    assert data_sets.prepare(definition, tmp_path / "raw", tmp_path / "out", name="mine") != 0
    assert "mine: features: no image has features in all of the sets hue, network" in capsys.readouterr().err
