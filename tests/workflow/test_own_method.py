"""The module, configuration and command with which docs/methods.md adds a method."""

import shlex

import polars as pl

from tests.docs.conftest import blocks, files_of, page, section
from tests.workflow.project import ROOT, Project


def test_the_example_of_the_page_gets_its_row(tmp_path):
    example = section(page("docs/methods.md"), "### From the image's labels")
    project = Project.copy(ROOT, tmp_path / "vsebench")
    project.configure(datasets={"sim-iapr": {"protocols": ["regions"], "options": {"scale": 0.03}}}, tuning_budget=8)
    for path, text in files_of(example).items():
        (project.folder / path).write_text(text, encoding="utf-8")
    (command,) = blocks(example, "sh")
    program, cores, two, *options = shlex.split(command)
    assert (program, cores, two) == (".venv/bin/snakemake", "--cores", "2")
    fewer = "methods=[popularity,conditional]"  # without the tuned method, so that it takes seconds
    outcome = project.snakemake("accuracy", *options, fewer)
    assert outcome.status == 0, outcome.text[-3000:]
    summary = pl.read_parquet(project.folder / "results" / "summary.parquet").filter(metric="recall@10")
    recall = dict(summary.select("method", "value").rows())
    assert set(recall) == {"popularity", "conditional"}
    assert recall["conditional"] > recall["popularity"]
