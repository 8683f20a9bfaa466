"""The script and the configuration that docs/own-data.md shows for image features, and their files."""

import re
from textwrap import dedent

import numpy as np
import polars as pl
import pytest
import yaml

from tests import data_sets
from tests.docs.conftest import ROOT, blocks, page
from vsebench.core.errors import UserError
from vsebench.core.storage import read_json
from vsebench.plan import read_plan
from vsebench.plan.jobs.data import processed_files

PAGE = page("docs/own-data.md")
TABLE = "docs/examples/made-up-tags.csv"


def saved_as_on_the_page(images, features):
    script = blocks(PAGE, "python")[0]  # the first one saves features
    exec(script, {"images": images, "features": features})


def configured_as_on_the_page(**changes):
    """Return the run of config/own.yaml, in which the key `data` is that of the page, with changes."""
    run = yaml.safe_load((ROOT / "config" / "own.yaml").read_text(encoding="utf-8"))
    (block,) = [text for text in re.findall(r"^    data:\n(?:      .*\n)*", PAGE, re.MULTILINE) if "features" in text]
    data = yaml.safe_load(dedent(block))["data"]
    assert {key: value for key, value in data.items() if key not in ("features", "normalise")} == run["datasets"][
        "my-photos"
    ]["data"]
    run["datasets"]["my-photos"] = {"protocols": ["distinct"], "data": data | changes}
    return run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / TABLE).parent.mkdir(parents=True)
    (tmp_path / TABLE).write_bytes((ROOT / TABLE).read_bytes())
    return tmp_path


def test_features_beside_a_table_of_ones_own(folder):
    photos = pl.read_csv(TABLE)["photo"].unique(maintain_order=True).to_list()
    values = np.random.default_rng(0).random((400, 3))
    saved_as_on_the_page([*photos[1:], "another"], values)
    plan = read_plan(ROOT / "config", configured_as_on_the_page(), [])
    config = plan.datasets["my-photos"]
    assert config.normalise == ("standard",)
    assert list(config.own_files.values()) == [TABLE, "my-features.npy", "my-features.txt"]
    assert data_sets.download(config.definition("vocabulary", "expected"), "raw", name="my-photos") == 0
    assert [file["name"] for file in read_json(folder / "raw" / "provenance.json")["files"]] == [
        TABLE,
        "my-features.npy",
        "my-features.txt",
    ]
    assert data_sets.prepare(config.definition("files"), "raw", "out", name="my-photos") == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == sorted(processed_files(plan, "my-photos"))
    images = pl.read_parquet("out/images.parquet")
    assert images.filter(~pl.col("has_features"))["id"].to_list() == [photos[0]]
    features = np.load("out/features.npy")
    wanted = dict(zip(photos[1:], values.astype(np.float32), strict=False))
    for image, name in images.select("image", "id").iter_rows():
        assert features[image].tolist() == list(wanted.get(name, np.zeros(3)))
    summary = read_json(folder / "out" / "summary.json")
    assert summary["features"]["images_without"] == 1
    assert summary["dropped"] == [
        {"what": "rows of features", "number": 1, "why": "their images are not in the data set"}
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "features.file: there is no file /"),
        ({"features": {"file": "x.npz"}, "normalise": ["standard"]}, "'standard' would make sparse features dense"),
    ],
)
def test_a_mistake_is_told_before_the_first_job(folder, changes, message):
    with pytest.raises(UserError) as error:
        read_plan(ROOT / "config", configured_as_on_the_page(**changes), [])
    assert "datasets.my-photos.data" in str(error.value)
    assert message in str(error.value)
