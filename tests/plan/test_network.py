"""Features that a network makes, in a run's configuration: mistakes are told before the first job."""

import importlib.util
from pathlib import Path

import pytest

from tests.plan.runs import CONFIG, values
from vsebench.config.dataset import DatasetConfig
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check
from vsebench.plan import checks, read_plan
from vsebench.plan.jobs.data import download_definition, prepared, processed_files

NETWORK = {"model": "net.onnx", "images": "photos", "output": "fc7", "transform": "torchvision"}


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return a function that reads a run on a table with the folder `photos` and the network net.onnx beside it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checks, "find_spec", lambda name: importlib.util.find_spec("numpy"))  # whatever is installed
    (tmp_path / "tags.csv").write_text("image,label\na,b\n")
    (tmp_path / "net.onnx").write_bytes(b"")
    (tmp_path / "photos").mkdir()

    def with_features(features):
        run = values(CONFIG / "own.yaml")
        data = {"pairs": "tags.csv", "features": features}
        run["datasets"]["my-photos"] = {"protocols": ["images"], "data": data}
        return read_plan(CONFIG, run | {"methods": ["popularity", "ridge"]}, [])

    return with_features


def test_what_is_prepared_are_the_files_that_the_stage_writes(read):
    plan = read({"network": NETWORK})
    assert plan.datasets["my-photos"].networks[""].resize == 256
    assert prepared(plan, "my-photos").definition()["features"] == {
        "file": "data/features/my-photos/features.npy",
        "ids": "data/features/my-photos/ids.txt",
    }
    assert "features.npy" in processed_files(plan, "my-photos")
    assert plan.variants(plan.tasks[0]) == ["popularity", "ridge"]


def test_a_download_does_not_depend_on_the_network(read):
    assert "features" not in download_definition(read({"network": NETWORK}), "my-photos")
    Path("net.npy").write_bytes(b"")
    assert download_definition(read({"file": "net.npy"}), "my-photos")["features"] == {"file": "net.npy"}


MISTAKES = {
    "no network": ({"model": "no.onnx"}, "data.features.network.model: there is no file /"),
    "no images": (
        {"images": "pictures"},
        "data.features.network.images: there is no file or folder /",
    ),
    "no ONNX file": ({"model": "net.pt"}, "data: features.network.model: String should match pattern"),
    "unknown transform": ({"transform": "vgg"}, "data: features.network.transform: Input should be 'torchvision', "),
    "no size": ({"resize": 0}, "data: features.network.resize.constrained-int: Input should be greater than or equal"),
    "unknown key": ({"layer": "fc7"}, "data: features.network.layer: unknown key"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_that_names_the_key(mistake, read):
    changes, message = MISTAKES[mistake]
    with pytest.raises(UserError) as error:
        read({"network": NETWORK | changes})
    assert f"the command line: datasets.my-photos.{message}" in str(error.value)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({}, "features: name exactly one of `file`, `network` and `adapter`"),
        ({"file": "x.npy", "network": NETWORK}, "features: name exactly one of `file`, `network` and `adapter`"),
        ({"network": NETWORK, "ids": "x.txt"}, "features: should have `ids` and `image` only together with `file`"),
    ],
)
def test_features_are_a_file_or_a_network(features, message, read):
    with pytest.raises(UserError) as error:
        read(features)
    assert message in str(error.value)


def test_without_onnxruntime_the_make_target_is_named(read, monkeypatch):
    monkeypatch.setattr(checks, "find_spec", lambda name: None)
    with pytest.raises(UserError) as error:
        read({"network": NETWORK})
    assert str(error.value).endswith(
        "features.network: it needs the package onnxruntime; `make setup-images` installs it"
    )


def test_files_that_are_downloaded_need_not_be_there(read):
    about = {"title": "t", "family": "other", "adapter": "table", "licence": "l", "citation": "c"}
    files = [{"name": "far.onnx", "sources": []}, {"name": "far.tar", "sources": []}]
    features = {"network": NETWORK | {"model": "far.onnx", "images": "far.tar"}}
    dataset = check(DatasetConfig, about | {"files": files, "features": features}, "here")
    checks.check_network(dataset, dataset.networks[""], "here")
