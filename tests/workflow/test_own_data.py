"""The configuration, command, results and mistake of docs/own-data.md."""

import re
import shlex
import shutil
from textwrap import dedent

import numpy as np
import polars as pl
import pytest
import yaml

from tests.docs.conftest import blocks, page, section
from tests.workflow.project import ROOT, Project

PAGE = page("docs/own-data.md")
TABLE = "docs/examples/made-up-tags.csv"
# Changes that make the page's run take seconds.
SMALL = ["--config", "methods=[popularity,opt_auc]", "seeds=[1]", "bootstrap=100", "timing={repeats: 1, epochs: 1}"]
SMALL += ["epochs={opt_auc: {maximum: 3, patience: 3}}"]


def block(language):
    (found,) = blocks(PAGE, language)
    return found


def blocks_of_section(title):
    """Return the indented blocks of a section of the page."""
    return [dedent(found) for found in re.findall(r"\n\n((?:    .*\n)+)", section(PAGE, f"## {title}"))]


def arguments():
    """Return what the page's command makes `make` give Snakemake, without the cores, which the tests choose."""
    program, config = shlex.split(block("sh"))
    assert program == "make"
    return ["--configfile", config.removeprefix("CONFIG=")]


@pytest.fixture
def project(tmp_path):
    project = Project.copy(ROOT, tmp_path / "vsebench")
    (project.folder / TABLE).parent.mkdir(parents=True)
    shutil.copy2(ROOT / TABLE, project.folder / TABLE)
    (project.folder / "config" / "own.yaml").write_text(block("yaml"), encoding="utf-8")
    return project


def test_the_page_shows_the_configuration_that_is_there_and_rows_of_the_table():
    assert yaml.safe_load(block("yaml")) == yaml.safe_load((ROOT / "config" / "own.yaml").read_text(encoding="utf-8"))
    table = pl.read_csv(ROOT / TABLE)
    assert table.columns == block("csv").splitlines()[0].split(",")
    assert (table["photo"].n_unique(), table["tag"].n_unique(), len(table)) == (400, 50, 2000)


def test_one_command_from_the_table_to_its_accuracy(project):
    """The page's command, but for the parts of a run that read nothing of the data set; with siblings and own parts."""
    table = pl.read_csv(ROOT / TABLE)
    photos = table["photo"].unique().sort()
    parts = pl.DataFrame({"photo": photos, "split": ["train"] * 250 + ["valid"] * 50 + ["test"] * 100})
    table.join(parts, on="photo", maintain_order="left").write_csv(project.folder / TABLE)
    tags = sorted(table["tag"].unique())
    parents = pl.DataFrame({"label": tags, "parent": [str(number // 5) for number in range(len(tags))]})
    parents.write_csv(project.folder / "parents.csv")
    config = project.folder / "config" / "own.yaml"
    text = config.read_text(encoding="utf-8")
    text = text.replace("    data:\n", "    data:\n      siblings: parents.csv\n      part: split\n")
    config.write_text(text.replace("[distinct]", "[distinct, official]"), encoding="utf-8")
    outcome = project.snakemake("accuracy", *arguments(), *SMALL, "metrics=[recall@10,sibling_precision@5]")
    assert outcome.status == 0, outcome.text[-3000:]
    expected = ["data/raw/my-photos/provenance.json"]
    expected += [f"results/tables/accuracy-my-photos-distinct.{suffix}" for suffix in ("csv", "md", "tex")]
    assert [name for name in expected if not (project.folder / name).is_file()] == []
    assert pl.read_parquet(project.folder / "results" / "metrics.parquet")["dataset"].unique().to_list() == [
        "my-photos"
    ]
    provenance = (project.folder / "data" / "raw" / "my-photos" / "provenance.json").read_text(encoding="utf-8")
    assert TABLE in provenance
    siblings = pl.read_parquet(project.folder / "data" / "processed" / "my-photos" / "siblings.parquet")
    assert len(siblings) == 50 * 4  # of each label, in groups of five
    metrics = pl.read_parquet(project.folder / "results" / "metrics.parquet")
    assert set(metrics["metric"]) == {"recall@10", "sibling_precision@5"}
    own = metrics.filter(protocol="official", metric="recall@10")
    assert dict(own.select("method", "n").iter_rows()) == {"popularity": 100}
    of_parts = pl.read_parquet(project.folder / "results/my-photos/official/seed1/split/images.parquet")
    assert of_parts.select("first", "valid", "test").sum().row(0) == (250, 50, 100)


def test_features_and_word_vectors_of_one_network(project):
    """The page's files and run; an image's features are the mean of the vectors of its tags. A tag has no vector."""
    table, rng = pl.read_csv(ROOT / TABLE), np.random.default_rng(1)
    tags, photos = (table[column].unique().sort().to_list() for column in ("tag", "photo"))
    vectors = dict(zip(tags, rng.normal(size=(len(tags), 64)), strict=True))
    means = [np.mean([vectors[tag] for tag in table.filter(photo=photo)["tag"]], axis=0) for photo in photos]
    np.save(project.folder / "my-features.npy", np.array(means, dtype=np.float32))
    (project.folder / "my-features.txt").write_text("".join(f"{photo}\n" for photo in photos), encoding="utf-8")
    words = np.array(tags[1:])
    np.savez(project.folder / "my-vectors.npz", words=words, vectors=np.array([vectors[tag] for tag in tags[1:]]))
    source, run = blocks_of_section("Word vectors of your labels")
    (project.folder / "config" / "word_vectors" / "my-vectors.yaml").write_text(source, encoding="utf-8")
    (project.folder / "config" / "own.yaml").write_text(run, encoding="utf-8")
    small = ["--config", "methods=[random,zero_shot_cosine]", "seeds=[1]", "bootstrap=100"]
    small += ["metrics=[map,harmonic_recall@10]", "timing={repeats: 1}"]
    outcome = project.snakemake("accuracy", *arguments(), *small)
    assert outcome.status == 0, outcome.text[-3000:]
    assert f"my-vectors: no word vector for 1 of 50 labels of my-photos: {tags[0]}\n" in outcome.text
    metrics = pl.read_parquet(project.folder / "results" / "metrics.parquet")
    values = metrics.filter(metric="map").iter_rows(named=True)
    found = {(row["protocol"], row["method"]): row["value"] for row in values}
    for protocol in yaml.safe_load(run)["datasets"]["my-photos"]["protocols"]:
        assert found[protocol, "zero_shot_cosine"] > 0.8 > 0.5 > found[protocol, "random"]
    harmonic = metrics.filter(metric="harmonic_recall@10")
    assert set(harmonic["protocol"]) == {"unseen_labels_all"}
    assert harmonic.filter(method="zero_shot_cosine")["value"].item() > harmonic.filter(method="random")["value"].item()


def test_results_of_another_configuration_are_said_to_be_there(project):
    for name in ("first", "second"):
        shutil.copy2(project.folder / "config" / "own.yaml", project.folder / "config" / f"{name}.yaml")
    first, again, second = (
        project.snakemake("results/outline.json", "--configfile", f"config/{name}.yaml").text
        for name in ("first", "first", "second")
    )
    warning = "results/ has files of a run of first.yaml. This run of second.yaml replaces the files that both"
    assert [warning in text for text in (first, again, second)] == [False, False, True]
    assert "has files of a run" not in first + again


def test_a_missing_column_is_one_line(project):
    config = project.folder / "config" / "own.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("      label: tag\n", ""), encoding="utf-8")
    outcome = project.snakemake("splits", *arguments(), *SMALL)
    assert outcome.status != 0
    assert "Traceback" not in outcome.text
    lines = {line for line in outcome.text.splitlines() if line.startswith("vsebench")}
    assert lines == {f"vsebench prepare: {TABLE}: no column 'label'; the columns are 'photo', 'tag'"}
    assert all(line in PAGE for line in lines)
