import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from tests import data_sets
from vsebench.core.storage import read_json

ROOT = Path(__file__).parents[2]
INCLUDED = ROOT / "data" / "included"
FILE = INCLUDED / "visual-genome-500.parquet"


def test_its_readme_has_size_and_checksum_of_the_file():
    text = (INCLUDED / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() in text
    assert f"{FILE.stat().st_size:,} bytes" in text


def test_it_is_a_data_set_without_a_download(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    config = data_sets.described("visual-genome-500")
    assert config.files == []
    assert data_sets.download(config, tmp_path / "raw") == 0
    assert data_sets.prepare(config, tmp_path / "raw", tmp_path / "out") == 0
    (record,) = read_json(tmp_path / "raw" / "provenance.json")["files"]
    assert (record["name"], record["source"]) == (
        "data/included/visual-genome-500.parquet",
        "a file that is read where it is",
    )
    summary = read_json(tmp_path / "out" / "summary.json")
    labels, images = (summary["counts"][key] for key in ("labels_per_image", "images_per_label"))
    assert (labels["min"], labels["max"], round(labels["mean"], 1)) == (1, 36, 13.6)
    assert (images["min"], images["max"]) == (28, 2736)


@pytest.fixture
def source(mirror):
    path = mirror / "vg500_test.json"
    if not path.is_file():
        pytest.skip(f"VSEBENCH_MIRROR has no {path.name}")
    return path


def test_it_is_what_the_program_makes_of_the_source(source, tmp_path):
    program = INCLUDED / "make_visual_genome_500.py"
    subprocess.run([sys.executable, program, source, tmp_path / "made.parquet"], check=True)
    assert pl.read_parquet(tmp_path / "made.parquet").equals(pl.read_parquet(FILE))
    assert hashlib.sha256(source.read_bytes()).hexdigest() in (INCLUDED / "README.md").read_text(encoding="utf-8")


def test_it_has_the_pairs_of_the_source(source, mirror):
    content = json.loads(source.read_bytes())
    pairs = Counter((sample["image_name"], label) for sample in content["samples"] for label in sample["image_labels"])
    table = pl.read_parquet(FILE)
    assert Counter((f"{image}.jpg", label) for image, label in table.rows()) == pairs
    vocabulary = (mirror / "vg500_vocabulary.txt").read_text(encoding="utf-8").splitlines()
    assert set(table["label"]) == set(vocabulary)
