"""What docs/methods.md says of adding a method, done: its module, its configuration, its command."""

import shlex

import polars as pl

from tests.docs.conftest import COMMAND, files_of, page, section
from tests.workflow.project import ROOT, Project

SMALL = ["datasets={sim-iapr: {protocols: [regions], options: {scale: 0.02}}}", "seeds=[1]", "bootstrap=100"]
SMALL += ["factors=8", "epochs={opt_auc: {maximum: 3, patience: 3}}"]


def test_the_example_of_the_page_gets_its_row(tmp_path):
    example = section(page("docs/methods.md"), "### From the image's labels")
    project = Project.copy(ROOT, tmp_path / "vsebench")
    for path, text in files_of(example).items():
        (project.folder / path).write_text(text, encoding="utf-8")
    (command,) = COMMAND.findall(example)
    program, cores, two, *words = shlex.split(command)
    assert (program, cores, two) == (".venv/bin/snakemake", "--cores", "2")
    outcome = project.snakemake("accuracy", *words, *SMALL)
    assert outcome.status == 0, outcome.text[-3000:]
    summary = pl.read_parquet(project.folder / "results" / "summary.parquet").filter(metric="recall@10")
    recall = dict(summary.select("method", "value").rows())
    assert set(recall) == {"popularity", "opt_auc", "conditional"}
    assert recall["conditional"] > recall["popularity"]
