"""Runs that show the methods of a pack, on simulated data."""

import shutil
import subprocess
import sys

import polars as pl
import pytest

from tests.workflow.conftest import Finished
from tests.workflow.project import Project
from vsebench.core.storage import read_json


@pytest.fixture
def with_pack(finished: Finished, tmp_path):
    """A project with the results of the finished run and a configuration that names its pack."""
    project = Project.clone(finished.project, tmp_path / "vsebench")
    command = [sys.executable, "-m", "vsebench", "pack", "earlier.vsepack"]
    subprocess.run(command, cwd=project.folder, env=project.environment(), check=True)
    project.configure(**{"with": ["earlier.vsepack"], "papers": [], "methods": ["popularity", "ridge", "opt_auc"]})
    return project


def test_methods_of_a_pack_stand_next_to_those_of_the_run_without_a_fit(with_pack: Project):
    dry = with_pack.dry_run("report")
    assert not dry.rules & {"fit", "rank", "rank_new_images", "split"}
    outcome = with_pack.snakemake("report")
    assert outcome.status == 0, outcome.text[-3000:]
    summary = pl.read_parquet(with_pack.folder / "results/summary.parquet")
    values = {(row["method"], row["metric"]): row["value"] for row in summary.iter_rows(named=True)}
    assert values["opt_auc@earlier", "recall@10"] == values["opt_auc", "recall@10"]
    assert values["ridge@earlier", "label_map"] == values["ridge", "label_map"]
    assert ("vse_fs@earlier", "map") in values
    assert "popularity@earlier" not in summary["method"]  # each run has its own controls
    table = (with_pack.folder / "results/tables/accuracy-sim-iapr-regions.md").read_text()
    assert "VSE-fs (earlier)" in table
    assert "Marked (earlier): fitted by another run (config, vsebench" in table
    assert "VSE-fs (earlier)" in (with_pack.folder / "results/report.html").read_text()


def test_a_method_of_a_pack_on_another_split_is_left_out_with_its_reason(with_pack: Project):
    datasets = {"sim-iapr": {"protocols": ["regions"], "options": {"scale": 0.012}}}
    with_pack.configure(**{"with": ["earlier.vsepack"], "papers": [], "methods": ["popularity"], "datasets": datasets})
    outcome = with_pack.snakemake("accuracy")
    assert outcome.status == 0, outcome.text[-3000:]
    left_out = read_json(with_pack.folder / "results/packs.json")["left_out"]
    assert {left["method"] for left in left_out} == {"opt_auc@earlier", "vse_ens@earlier", "vse_fs@earlier"}
    assert set(pl.read_parquet(with_pack.folder / "results/summary.parquet")["method"]) == {"popularity"}
    table = (with_pack.folder / "results/tables/accuracy-sim-iapr-regions.md").read_text()
    assert "Left out: Opt-AUC (earlier)" in table
    assert "the pack earlier has another split (seed 1: " in table


def test_a_pack_that_is_missing_or_has_no_task_of_the_run_is_one_line(with_pack: Project):
    with_pack.configure(**{"with": ["absent.vsepack"]})
    outcome = with_pack.snakemake("accuracy", "--dry-run")
    assert outcome.status != 0
    assert f"with: there is no file {with_pack.folder}/absent.vsepack" in outcome.text
    with_pack.configure(**{"with": ["earlier.vsepack"], "datasets": {"sim-nuswide": {"protocols": ["distinct"]}}})
    outcome = with_pack.snakemake("accuracy", "--dry-run")
    assert "earlier.vsepack has no methods for any task of the run; its tasks are sim-iapr/regions" in outcome.text
    shutil.copy(with_pack.folder / "earlier.vsepack", with_pack.folder / "My Pack.vsepack")
    with_pack.configure(**{"with": ["My Pack.vsepack"]})
    outcome = with_pack.snakemake("accuracy", "--dry-run")
    assert "its name may have only lower-case letters, digits, - and _" in outcome.text
