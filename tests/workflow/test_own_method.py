"""What docs/methods.md says of adding a method, done: its module, its configuration, its command."""

import re
import shlex

import polars as pl

from tests.workflow.project import ROOT, Project

SMALL = ["datasets={sim-iapr: {protocols: [regions], options: {scale: 0.02}}}", "seeds=[1]", "bootstrap=100"]
SMALL += ["timing={repeats: 1, epochs: 1}", "factors=8"]


def block(language):
    """Return the only block of the page in a language."""
    page = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return found


def test_the_example_of_the_page_gets_its_row(tmp_path):
    project = Project.copy(ROOT, tmp_path / "vsebench")
    (project.folder / "src" / "vsebench" / "methods" / "conditional.py").write_text(block("python"), encoding="utf-8")
    (project.folder / "config" / "methods" / "conditional.yaml").write_text(block("yaml"), encoding="utf-8")
    program, cores, two, *words = shlex.split(block("sh"))
    assert (program, cores, two) == (".venv/bin/snakemake", "--cores", "2")
    outcome = project.snakemake("accuracy", *words, *SMALL)
    assert outcome.status == 0, outcome.text[-3000:]
    summary = pl.read_parquet(project.folder / "results" / "summary.parquet").filter(metric="rec", cutoff=10)
    recall = dict(summary.select("method", "value").rows())
    assert set(recall) == {"popularity", "opt_auc", "conditional"}
    assert recall["conditional"] > recall["popularity"]
