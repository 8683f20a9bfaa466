"""Named targets: the tables that each makes, and the files that it needs."""

import os
import pty
import shutil
import subprocess
import sys

import pytest

from tests.workflow.project import ROOT, Project

TABLE = "docs/examples/made-up-tags.csv"
DATA = {"pairs": TABLE, "image": "photo", "label": "tag"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A run on data sets whose names are those of targets."""
    project = Project.copy(ROOT, tmp_path_factory.mktemp("targets") / "vsebench")
    (project.folder / TABLE).parent.mkdir(parents=True)
    shutil.copy2(ROOT / TABLE, project.folder / TABLE)
    datasets = {name: {"protocols": ["distinct"], "data": DATA} for name in ("audit-photos", "claims")}
    project.configure(datasets=datasets, methods=["popularity", "opt_auc"])
    return project


def test_the_audit_makes_its_tables_and_trains_nothing(project):
    outcome = project.dry_run("audit")
    assert outcome.rules == {"audit_papers", "outline", "table", "audit"}
    assert outcome.of("table", "name") == {"audit", "audit-depends", "audit-counts"}


def test_claims_make_their_tables_and_no_others(project):
    assert project.dry_run("claims").of("table", "name") == {"claims", "claims-summary"}


def test_accuracy_makes_one_table_per_task(project):
    outcome = project.dry_run("accuracy")
    assert outcome.of("table", "name") >= {"accuracy-audit-photos-distinct", "accuracy-claims-distinct"}


def test_a_figure_waits_for_what_its_kind_reads(project):
    outcome = project.dry_run("figures/convergence-claims-distinct.png")
    assert outcome.of("gather", "name") == {"history.parquet", "settings.json", "datasets.json"}
    assert "test_claims" not in outcome.rules


def test_the_page_depends_on_its_template(project):
    assert "rendering/page/templates/report.html.j2" in project.dry_run("report").text


def test_a_run_on_a_terminal_shows_its_progress_in_one_line_and_the_tables_that_it_makes(tmp_path):
    project = Project.copy(ROOT, tmp_path / "vsebench")
    project.configure()
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "vsebench", "run", "audit", "--cores", "1"]
    process = subprocess.Popen(command, cwd=project.folder, env=project.environment(), stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    while chunk := read(ours):
        text += chunk
    assert process.wait() == 0, text
    assert b" jobs, " in text
    assert b"results/tables/audit.csv" in text
    for replaced in (b"Select jobs", b"Execute ", b"Finished jobid", b"steps ("):
        assert replaced not in text


def read(terminal):
    """Return the next bytes of a terminal; none if its process has ended."""
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux reports the end
        return b""
