"""Runs in folders of their own, and the workflow as a module of another, on simulated data."""

import os
import subprocess
import sys

import pytest
import yaml

from tests.workflow.conftest import Finished
from tests.workflow.project import TINY, Project

LABELS = [(image % 4, 4 + image % 3, 7 + image % 5, 12) for image in range(40)]
CSV = "image,label\n" + "".join(f"{image},{label}\n" for image, labels in enumerate(LABELS) for label in labels)
SHORT = {key: TINY[key] for key in ("seeds", "bootstrap", "factors")} | {
    "methods": ["popularity", "random"],
    "metrics": ["recall@5", "map"],
    "papers": [],
}


@pytest.fixture
def project(finished: Finished, tmp_path) -> Project:
    return Project.copy(finished.project.folder, tmp_path / "vsebench")


def run(project: Project, out: str, config, *arguments: str, status: int = 0) -> str:
    """Run a part of the workflow in a folder of its own, as `make OUT=...` does; return its output."""
    command = [sys.executable, "-m", "snakemake", *arguments, "--cores", "1", "--directory", out]
    environment = project.environment(VSEBENCH_DATA=str(project.folder / "data"), VSEBENCH_MIRROR="")
    done = subprocess.run(
        [*command, "--configfile", str(config)], cwd=project.folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == status, (done.stdout + done.stderr)[-3000:]
    return done.stdout + done.stderr


def test_a_download_that_fails_in_a_shared_folder_is_one_line_without_a_traceback(project: Project):
    folder = project.folder / "own"
    folder.mkdir()
    (folder / "run.yaml").write_text(yaml.safe_dump(SHORT | {"datasets": {"saiapr": {"protocols": ["regions"]}}}))
    output = run(project, "runs/own", folder / "run.yaml", "results/metrics.parquet", status=1)
    assert "vsebench download: could not download saiapr_tc-12.tar.gz" in output
    assert "Traceback" not in output


def test_two_runs_share_prepared_data_but_not_a_table_of_the_same_name(project: Project):
    for name, offset in (("first", 0), ("second", 1)):
        folder = project.folder / name
        folder.mkdir()
        (folder / "tags.csv").write_text(CSV.replace("\n0,", f"\n{100 + offset},"))
        own = {"protocols": ["distinct"], "data": {"pairs": "tags.csv"}}
        shipped = {"protocols": ["distinct"], "options": {"scale": 0.01}}
        text = yaml.safe_dump(SHORT | {"datasets": {"mine": own, "sim-iapr": shipped}})
        (folder / "run.yaml").write_text(text)
        output = run(project, f"runs/{name}", folder / "run.yaml", "results/metrics.parquet")
        assert ("prepare_sim_iapr" in output) == (name == "first")
        assert "prepare_mine" in output
    first, second = (project.folder / f"runs/{name}/data/processed" for name in ("first", "second"))
    assert (first / "sim-iapr").resolve() == (second / "sim-iapr").resolve()
    assert not (first / "mine").is_symlink()
    assert (first / "mine/images.parquet").read_bytes() != (second / "mine/images.parquet").read_bytes()
    assert not (project.folder / "results").exists()
    again = run(project, "runs/first", project.folder / "first/run.yaml", "results/metrics.parquet")
    assert "Nothing to be done" in again


def test_another_workflow_uses_this_one_as_a_module_and_makes_snakemakes_report(project: Project, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    datasets = {"sim-iapr": {"protocols": ["distinct"], "options": {"scale": 0.01}}}
    (other / "run.yaml").write_text(yaml.safe_dump(SHORT | {"datasets": datasets}))
    (other / "Snakefile").write_text(
        f"""
configfile: "run.yaml"

module vsebench:
    snakefile: "{os.path.relpath(project.folder / "Snakefile", other)}"
    config: config

use rule * from vsebench as vsebench_*

rule best:
    default_target: True
    input: "results/summary.parquet", "results/tables/accuracy-sim-iapr-distinct.csv"
    output: "best.txt"
    shell: "cp {{input[1]}} {{output}}"
"""
    )
    command = [sys.executable, "-m", "snakemake", "--cores", "1"]
    for arguments in ((), ("--report", "report.html")):
        done = subprocess.run(
            [*command, *arguments], cwd=other, env=project.environment(), capture_output=True, text=True
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert "Popularity" in (other / "best.txt").read_text()
    assert "accuracy-sim-iapr-distinct" in (other / "report.html").read_text()
