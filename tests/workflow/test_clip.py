"""The run of docs/clip.md, with two tiny networks of random weights. Their accuracy means nothing; the test is about
the steps of the run.

One embedding of words serves both networks. An image is a mean of the vectors of its labels, painted as 48 numbers, so
a wrong order of images, labels or prompts would show as a ranking by chance.
"""

import json
import re

import numpy as np
import polars as pl
import pytest
from PIL import Image

from tests import onnx_files
from tests.docs.conftest import blocks, files_of, page
from tests.workflow.project import ROOT, Project

PAGE = page("docs/clip.md")
LABELS = ["sky", "polar_bear", "tree", "car", "dog", "tvmonitor", "sea", "sand", "moon", "cup", "bus", "cat"]
PROMPTS = ["a", "photo", "of", "the", "many", "."]  # words whose vectors are zero
WORDS = [
    *PROMPTS,
    "sky",
    "polar",
    "bear",
    "tree",
    "car",
    "dog",
    "television",
    "sea",
    "sand",
    "moon",
    "cup",
    "bus",
    "cat",
]
SMALL = ["seeds=[1]", "bootstrap=100", "timing={repeats: 1, epochs: 1}", "tune=false"]
MEAN = np.array([0.48145466, 0.4578275, 0.40821073])
DEVIATION = np.array([0.26862954, 0.26130258, 0.27577711])


@pytest.fixture
def project(tmp_path):
    """A project with the page's files, and photographs of two labels each."""
    for package in ("onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason="optional, `make setup-images` installs it")
    project = Project.copy(ROOT, tmp_path / "vsebench")
    rng = np.random.default_rng(0)
    table = np.zeros((4 + len(WORDS), 48))
    table[4 + len(PROMPTS) :] = rng.normal(size=(len(WORDS) - len(PROMPTS), 48))
    (project.folder / "clip-text.onnx").write_bytes(onnx_files.text_network(table))
    (project.folder / "clip-image.onnx").write_bytes(onnx_files.network(weights=np.eye(48), product="features"))
    (project.folder / "tokenizer.json").write_text(json.dumps(onnx_files.tokenizer(WORDS)))
    vector = {word: table[4 + number] for number, word in enumerate(WORDS)}
    vector |= {"polar_bear": vector["polar"] + vector["bear"], "tvmonitor": vector["television"]}
    (project.folder / "photos").mkdir()
    rows = []
    for number in range(240):
        labels = [LABELS[number % 12], LABELS[(number * 5 + number // 12) % 12]]
        paint(sum(vector[label] for label in set(labels)), project.folder / "photos" / f"{number}.png")
        rows += [(f"{number}.png", label) for label in set(labels)]
    pl.DataFrame(rows, schema=["image", "label"], orient="row").write_csv(project.folder / "tags.csv")
    for path, text in files_of(PAGE).items():
        (project.folder / path).write_text(text, encoding="utf-8")
    return project


def paint(values, path):
    """Write an image of 4 x 4 pixels that the transform turns into (nearly) a multiple of these 48 numbers."""
    wanted = (values / 10).reshape(3, 4, 4).transpose(1, 2, 0) * DEVIATION + MEAN
    Image.fromarray(np.clip(np.rint(wanted * 255), 0, 255).astype(np.uint8)).save(path)


def test_the_page_goes_from_photographs_to_a_table(project):
    run = project.folder / "my-photos.yaml"
    tiny = {"output: image\n": "output: features\n", "resize: 224\n": "resize: 4\n"}
    text = run.read_text(encoding="utf-8")
    for old, new in tiny.items():
        assert old in text
        text = text.replace(old, new)
    run.write_text(text, encoding="utf-8")
    (command,) = blocks(PAGE, "sh")
    assert command == "make CONFIG=my-photos.yaml\n"
    planned = project.snakemake("accuracy", "--configfile", "my-photos.yaml", "--dry-run")
    assert planned.status == 0, planned.text[-3000:]
    outcome = project.snakemake("accuracy", "--configfile", "my-photos.yaml", "--config", *SMALL)
    assert outcome.status == 0, outcome.text[-3000:]

    found = pl.read_parquet(project.folder / "data" / "processed" / "my-photos" / "word_vectors.parquet")
    assert sorted(found["name"]) == sorted(LABELS)
    assert found.filter(name="tvmonitor").select("rule", "words").row(0) == ("alias", "television")
    assert found.filter(name="polar_bear").select("rule", "words").row(0) == ("whole", "polar bear")

    for name in ("images", "unseen_labels_all"):
        assert f"accuracy-my-photos-{name}.md" in PAGE
        assert (project.folder / "results" / "tables" / f"accuracy-my-photos-{name}.md").is_file()
    metrics = pl.read_parquet(project.folder / "results" / "metrics.parquet")
    value = {tuple(row[:3]): row[3] for row in metrics.select("protocol", "method", "metric", "value").iter_rows()}
    assert value["images", "zero_shot_cosine", "map"] > 0.9 > 0.6 > value["images", "random", "map"]
    assert value["images", "tip_adapter", "map"] > 0.9
    both = [value["unseen_labels_all", "zero_shot_cosine", f"{kind}_recall@5"] for kind in ("seen", "unseen")]
    assert min(both) > 0.9
    harmonic = value["unseen_labels_all", "zero_shot_cosine", "harmonic_recall@5"]
    assert harmonic == pytest.approx(2 * both[0] * both[1] / sum(both))


def test_features_of_open_images_as_the_page_says(project):
    path, run = project.folder / "config" / "datasets" / "openimages-clip.yaml", "openimages.yaml"
    shipped = path.with_name("openimages-common214.yaml").read_text(encoding="utf-8")
    path.write_text(shipped + path.read_text(encoding="utf-8"), encoding="utf-8")
    (project.folder / "openimages-photos").mkdir()
    outcome = project.snakemake("accuracy", "--configfile", run, "--dry-run", "--printshellcmds")
    assert outcome.status == 0, outcome.text[-3000:]
    assert "--images openimages-photos --output image --transform clip --resize 224 --suffixes drop" in outcome.text
    (partition,) = re.findall(r"^    (partition: .*)$", PAGE, re.MULTILINE)
    (project.folder / "test-images.txt").touch()
    path.write_text(path.read_text(encoding="utf-8") + partition + "\n", encoding="utf-8")
    text = (project.folder / run).read_text(encoding="utf-8").replace("[images]", "[official]")
    (project.folder / run).write_text(text, encoding="utf-8")
    outcome = project.snakemake("accuracy", "--configfile", run, "--dry-run")
    assert outcome.status == 0, outcome.text[-3000:]
