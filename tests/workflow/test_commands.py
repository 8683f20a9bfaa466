"""Commands in a run of Snakemake: what fails alone, what an edit repeats, and software that Snakemake deploys."""

import json
import shutil
import subprocess
import sys

import pytest
import yaml

from tests.workflow.project import ROOT, Project, tiny_set

SEED = "results/sim-iapr/distinct/seed1"
COMMAND = {"source": "a test", "tuned": "not tuned"}
KNN = "sh docs/examples/item_knn.sh {problem} {scores} 10"
CONFIGURATION = {
    "datasets": tiny_set("distinct"),
    "methods": ["popularity", "knn", "fails"],
    "papers": [],
    "metrics": ["map"],
}
# It runs the command of the image on this machine, as the real one does in a container.
APPTAINER = """#!/bin/sh
if [ "$1" = --version ]; then echo "apptainer version 1.3.0"; exit; fi
while [ "${1##*.}" != sif ]; do shift; done
echo "in $1"
shift
IN_CONTAINER=yes exec "$@"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with two commands: one works, the other fails after it has written a part of its scores."""
    if shutil.which("awk") is None:
        pytest.skip("there is no awk")
    project = Project.copy(ROOT, tmp_path_factory.mktemp("commands") / "a folder")
    shutil.copytree(ROOT / "docs/examples", project.folder / "docs/examples")
    (project.folder / "train.sh").write_text("echo image,label,score > $2; echo something is wrong; exit 3\n")
    write(project, "knn", command=KNN)
    write(project, "fails", command="sh train.sh {problem} {scores}")
    project.configure(**CONFIGURATION)
    return project


def write(project, name, **values):
    path = project.folder / f"config/methods/{name}.yaml"
    path.write_text(yaml.safe_dump({"title": name} | COMMAND | values), encoding="utf-8")


def made(project, name):
    return sorted(path.name for path in (project.folder / SEED / name).iterdir())


def test_a_command_that_fails_stops_its_own_variant_alone(project):
    outcome = project.snakemake("--keep-going", *(f"{SEED}/{name}/ranks.parquet" for name in ("fails", "knn")))
    assert outcome.status != 0
    log = f"{SEED}/fails/command.log"
    ended = "the command ended with exit status 3; the output of the command is in"
    error = f"fails on sim-iapr (distinct, seed 1): {ended} {log}"
    assert f"    {log}: vsebench command: {error}" in outcome.text
    assert (project.folder / log).read_text().startswith("something is wrong\n")
    assert made(project, "fails") == ["command.log"]
    assert "ranks.parquet" in made(project, "knn")
    record = json.loads((project.folder / SEED / "knn/run.json").read_text())
    assert record["command"]["command"] == KNN
    assert record["command"]["seconds"] > 0


def test_the_tables_are_made_without_a_command_that_fails(project):
    run = [sys.executable, "-m", "vsebench", "run", "config/config.yaml", "accuracy", "--cores", "1"]
    done = subprocess.run(run, cwd=project.folder, env=project.environment(), capture_output=True, text=True)
    assert done.returncode == 1
    last, _, reason = done.stderr.splitlines()[-1].partition(" was left out: ")
    assert last == "vsebench run: sim-iapr/distinct/fails"
    assert reason.startswith("its job failed: vsebench command: ")
    assert reason.endswith(f"the output of the command is in {SEED}/fails/command.log")
    table = (project.folder / "results/tables/accuracy-sim-iapr-distinct.md").read_text()
    assert f"- Left out: fails ({reason})." in table
    assert "| knn |" in table
    assert "| fails |" not in table


def test_an_edit_of_a_file_that_a_command_names_runs_it_again(project):
    ranks = f"{SEED}/knn/ranks.parquet"
    assert project.snakemake(ranks).status == 0
    assert project.dry_run(ranks).rules == set()
    project.edit("docs/examples/item_knn.sh", "# PROBLEM is", "# The first argument is")
    assert {"command_knn", "fit", "rank"} <= project.dry_run(ranks).rules
    assert "export_split" not in project.dry_run(ranks).rules
    project.edit("docs/examples/item_knn.sh", "# The first argument is", "# PROBLEM is")
    assert project.snakemake(ranks).status == 0


def test_a_command_in_a_container(project, tmp_path):
    """A script stands for apptainer, which is not on every machine."""
    program = tmp_path / "bin/apptainer"
    program.parent.mkdir()
    program.write_text(APPTAINER)
    program.chmod(0o755)
    (project.folder / "image.sif").write_text("")
    path = f"{program.parent}:{project.environment()['PATH']}"
    write(project, "boxed", command=f'echo "inside: $IN_CONTAINER"; {KNN}', container="image.sif")
    configuration = project.configure("boxed.yaml", **(CONFIGURATION | {"methods": ["popularity", "boxed"]}))
    arguments = [f"{SEED}/boxed/ranks.parquet", "--configfile", configuration]
    refused = project.snakemake(*arguments, PATH=path)
    assert refused.status != 0
    assert (
        "boxed.yaml: container: Snakemake deploys this software only with the option --software-deployment-method "
        "apptainer" in (refused.text)
    )
    outcome = project.snakemake(*arguments, "--software-deployment-method", "apptainer", PATH=path)
    assert outcome.status == 0, outcome.text[-3000:]
    assert "inside: yes" in (project.folder / SEED / "boxed/container.log").read_text()
    boxed, knn = (project.folder / SEED / name / "scores.csv" for name in ("boxed", "knn"))
    assert sorted(boxed.read_text().splitlines()) == sorted(knn.read_text().splitlines())
    assert json.loads((project.folder / SEED / "boxed/command.json").read_text())["seconds"] > 0
    write(project, "boxed", command=f"echo oh no; exit 4; {KNN}", container="image.sif")
    lint = project.snakemake(*arguments, "--lint", "text", "--software-deployment-method", "apptainer", PATH=path)
    assert "rule command_boxed " in lint.text  # it runs this package
    assert "rule container_boxed " not in lint.text
    failed = project.snakemake(*arguments, "--software-deployment-method", "apptainer", PATH=path)
    log = f"{SEED}/boxed/container.log"
    ended = "the command ended with exit status 4; the output of the command is in"
    error = f"boxed on sim-iapr (distinct, seed 1): {ended} {log}"
    assert f"    {log}: vsebench: {error}" in failed.text
