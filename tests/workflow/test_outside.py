"""The commands, the program and the files of docs/outside.md, in their order; scikit-learn and awk train models."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import polars as pl
import pytest

from tests.docs.conftest import files_of, page
from tests.workflow.project import ROOT, Project

BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(shutil.which("awk") is None, reason="there is no awk")
def test_the_examples_of_the_page(tmp_path):
    text = page("docs/outside.md")
    project = Project.copy(ROOT, tmp_path / "vsebench")
    for path, content in files_of(text).items():
        (project.folder / path).write_text(content, encoding="utf-8")
    shutil.copytree(ROOT / "docs/examples", project.folder / "docs/examples")
    said, tables = [], {}
    for language, block in BLOCK.findall(text):
        if language == "python":
            subprocess.run([sys.executable, "-c", block], cwd=project.folder, check=True)
            continue
        for line in block.splitlines():
            program, *arguments = shlex.split(line)
            said.append(run(project, program.rpartition("/")[2], arguments))
            # A run deletes the tables of an earlier one in the same folder.
            tables |= {path.stem: path.read_text("utf-8") for path in (project.folder / "results/tables").glob("*.md")}
    assert "fits sim-features/images, seed 1" in said[2]
    value = mean_average_precision(project, "sim-features/images")
    assert value["sklearn_ridge"] > value["popularity"] + 0.05
    assert abs(value["sklearn_ridge"] - value["ridge"]) < 0.02
    note = "Ridge (scikit-learn) was trained elsewhere; how its settings were chosen: not tuned; penalty 10."
    assert note in tables["accuracy-sim-features-images"]
    value = mean_average_precision(project, "sim-iapr/distinct")
    assert value["awk_item_knn"] > value["popularity"] + 0.05
    assert abs(value["awk_item_knn"] - value["item_knn"]) < 0.02
    how = "how its settings were chosen: not tuned; shrinkage 10"
    note = f"Label neighbours (awk) was trained by its own command; {how}."
    assert note in tables["accuracy-sim-iapr-distinct"]


def mean_average_precision(project, task):
    summary = pl.read_parquet(project.folder / f"results/{task}/summary.parquet").filter(metric="map")
    return dict(summary.select("method", "value").rows())


def run(project, program, arguments):
    environment = os.environ | {"PYTHONPATH": str(project.folder / "src")}
    command = [sys.executable, "-m", program, *arguments]
    return subprocess.run(
        command, cwd=project.folder, env=environment, check=True, capture_output=True, text=True
    ).stdout
