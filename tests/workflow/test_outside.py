"""The commands, the program and the file of docs/outside.md, in their order; scikit-learn trains the model."""

import os
import re
import shlex
import subprocess
import sys

import polars as pl

from tests.docs.conftest import files_of, page
from tests.workflow.project import ROOT, Project

BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_example_of_the_page(tmp_path):
    text = page("docs/outside.md")
    project = Project.copy(ROOT, tmp_path / "vsebench")
    for path, content in files_of(text).items():
        (project.folder / path).write_text(content, encoding="utf-8")
    said = []
    for language, block in BLOCK.findall(text):
        if language == "python":
            subprocess.run([sys.executable, "-c", block], cwd=project.folder, check=True)
            continue
        for line in block.splitlines():
            program, *arguments = shlex.split(line)
            said.append(run(project, program.rpartition("/")[2], arguments))
    assert "fits sim-features/images, seed 1" in said[2]
    summary = pl.read_parquet(project.folder / "results/summary.parquet").filter(metric="map")
    value = dict(summary.select("method", "value").rows())
    assert value["sklearn_ridge"] > value["popularity"] + 0.05
    assert abs(value["sklearn_ridge"] - value["ridge"]) < 0.02
    table = (project.folder / "results/tables/accuracy-sim-features-images.md").read_text(encoding="utf-8")
    assert "Ridge (scikit-learn) was trained elsewhere; tuned: not tuned; penalty 10." in table


def run(project, program, arguments):
    if program == "snakemake":
        arguments = [argument for argument in arguments if argument not in ("--cores", "2")]
        outcome = project.snakemake(*arguments)
        assert outcome.status == 0, outcome.text[-3000:]
        return outcome.text
    environment = os.environ | {"PYTHONPATH": str(project.folder / "src")}
    command = [sys.executable, "-m", program, *arguments]
    return subprocess.run(
        command, cwd=project.folder, env=environment, check=True, capture_output=True, text=True
    ).stdout
