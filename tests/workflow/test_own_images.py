"""The run and the command of docs/features.md, which compute features of the images in a folder."""

import re
import shlex
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
import yaml
from PIL import Image

from tests import onnx_files
from tests.docs.conftest import FILE, blocks, page, section
from tests.workflow.project import ROOT, Project
from vsebench.config.dataset import Network

PAGE = page("docs/features.md")
LABELS = ["dark", "light", "red", "blue"]
SMALL = ["methods=[popularity,ridge]", "bootstrap=100", "timing={repeats: 1, epochs: 1}"]


@pytest.fixture
def project(tmp_path):
    """A project with the page's configuration, its network and table, and images whose label is their colour."""
    pytest.importorskip("onnxruntime", reason="optional, `make setup-images` installs it")
    project = Project.copy(ROOT, tmp_path / "vsebench")
    rng = np.random.default_rng(0)
    rows = []
    (project.folder / "photos" / "more").mkdir(parents=True)
    for number in range(80):
        label = LABELS[number % 4]
        colour = {"dark": (20, 20, 20), "light": (230, 230, 230), "red": (200, 20, 20), "blue": (20, 20, 200)}[label]
        image = f"{'more/' if number > 40 else ''}{number}.png"
        pixels = np.clip(rng.normal(colour, 15, (30, 40, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(project.folder / "photos" / image)
        rows += [(image, label), (image, "any")]
    pl.DataFrame(rows, schema=["image", "label"], orient="row").write_csv(project.folder / "tags.csv")
    weights = rng.normal(size=(48, 6))
    (project.folder / "network.onnx").write_bytes(onnx_files.network(weights=weights, product="features"))
    run = blocks(section(PAGE, "## In a run"), "yaml")[0]
    (project.folder / "my-photos.yaml").write_text(run, encoding="utf-8")
    return project


def run(project, *targets, **options):
    return project.snakemake(*targets, "--configfile", "my-photos.yaml", "--config", *SMALL, **options)


def test_one_command_from_images_to_accuracy(project):
    (project.folder / "photos" / "7.png").write_bytes(b"no image")
    outcome = run(project, "accuracy")
    assert outcome.status == 0, outcome.text[-3000:]
    made, processed = (project.folder / "data" / name / "my-photos" for name in ("features", "processed"))
    assert (made / "failed.txt").read_text() == "7.png\tit is not an image in a known format\n"
    images = pl.read_parquet(processed / "images.parquet")
    assert images.filter(~pl.col("has_features"))["id"].to_list() == ["7.png"]
    row_of = dict(zip((made / "ids.txt").read_text().splitlines(), np.load(made / "features.npy"), strict=True))
    for image, row in zip(images["id"], np.load(processed / "features.npy"), strict=True):
        np.testing.assert_array_equal(row, row_of.get(image, np.zeros(6)))
    metrics = pl.read_parquet(project.folder / "results" / "metrics.parquet").filter(metric="map@5")
    value = dict(metrics.group_by("method").agg(pl.col("value").first()).iter_rows())
    assert value["ridge"] > value["popularity"]

    outcome = run(project, "accuracy", "--dry-run")
    assert "Nothing to be done" in outcome.text
    (project.folder / "photos" / "more" / "99.png").write_bytes(b"")
    outcome = run(project, "accuracy", "--dry-run")
    assert {"network_features", "prepare", "fit"} <= outcome.rules


def test_the_command_of_the_page_writes_what_the_page_lists(project):
    (command,) = [block for block in blocks(PAGE, "sh") if "vsebench features" in block]
    arguments = shlex.split(command)[1:]
    environment = project.environment()
    subprocess.run([sys.executable, "-m", "vsebench", *arguments], cwd=project.folder, env=environment, check=True)
    files = {"features.npy", "ids.txt", "failed.txt", "record.json", "shards"}
    assert {path.name for path in (project.folder / "described").iterdir()} == files
    assert all(f"`{name}`" in PAGE or f"`{name}/`" in PAGE for name in files)


def test_a_network_and_images_that_are_downloaded_are_found_where_downloads_are(project):
    description = yaml.safe_load((project.folder / "my-photos.yaml").read_text(encoding="utf-8"))
    data = description["datasets"]["my-photos"].pop("data")
    data["features"]["network"] |= {"model": "far.onnx", "images": "far-photos.tar", "resize": "squash"}
    files = [{"name": name, "sources": []} for name in ("far.onnx", "far-photos.tar")]
    about = {"title": "far", "family": "other", "licence": "none", "citation": "none", "files": files}
    table = {"adapter": "table", "options": {"pairs": "tags.csv"}, "features": data["features"]}
    for path, values in (("my-photos.yaml", description), ("config/datasets/my-photos.yaml", about | table)):
        (project.folder / path).write_text(yaml.safe_dump(values), encoding="utf-8")
    outcome = run(project, "accuracy", "--dry-run", "--printshellcmds")
    assert outcome.status == 0, outcome.text
    (line,) = re.findall(r"vsebench features (.*) --threads", outcome.text)
    assert line == (
        "--model data/raw/my-photos/far.onnx --images data/raw/my-photos/far-photos.tar --output features"
        " --transform torchvision --resize squash --suffixes keep"
    )
    (inputs,) = re.findall(r"rule network_features:\n    input: (.*)", outcome.text)
    assert inputs.endswith(", data/raw/my-photos/provenance.json")


def test_the_keys_of_the_page_are_those_that_there_are():
    run = blocks(section(PAGE, "## In a run"), "yaml")[0]
    assert set(yaml.safe_load(run)["datasets"]["my-photos"]["data"]["features"]["network"]) <= set(Network.model_fields)


def test_photographs_of_voc2007_as_the_page_says(project):
    files = dict(FILE.findall(section(PAGE, "## Photographs of VOC 2007 and MS-COCO")))
    path = project.folder / "config" / "datasets" / "voc2007-photos.yaml"
    shipped = path.with_name("voc2007.yaml").read_text(encoding="utf-8")
    path.write_text(shipped + files.pop(path.relative_to(project.folder).as_posix()), encoding="utf-8")
    ((name, text),) = files.items()
    (project.folder / name).write_text(text, encoding="utf-8")
    (project.folder / "VOCdevkit" / "VOC2007" / "JPEGImages").mkdir(parents=True)
    outcome = project.snakemake("accuracy", "--configfile", name, "--dry-run", "--printshellcmds")
    assert outcome.status == 0, outcome.text
    assert "--images VOCdevkit/VOC2007/JPEGImages --output features" in outcome.text


def test_the_table_of_photographs_of_mscoco(tmp_path):
    for name in ("train2014/COCO_train2014_000000000009.jpg", "val2014/COCO_val2014_000000057870.jpg"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    (command,) = re.findall(r"^    (\(echo .*)$", PAGE, re.MULTILINE)
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    table = pl.read_csv(tmp_path / "photos.csv").sort("image")
    assert table.rows() == [
        (9, "train2014/COCO_train2014_000000000009.jpg"),
        (57870, "val2014/COCO_val2014_000000057870.jpg"),
    ]
