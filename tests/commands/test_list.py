"""The command `vsebench list`."""

import pytest

from tests.stages.small import run
from tests.workflow.project import ROOT
from vsebench.commands.list import KINDS
from vsebench.evaluation.metrics.base import known_metrics


def listed(capsys, *words):
    """Return the names and meanings that the command prints."""
    assert run("list", *words) == 0
    return dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize("kind", KINDS)
def test_each_name_has_a_meaning(kind, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert all(listed(capsys, kind).values())


def test_methods_are_listed_with_their_titles_and_metrics_without_cut_offs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    methods = listed(capsys, "methods")
    assert set(methods) == {path.stem for path in (ROOT / "config" / "methods").glob("*.yaml")}
    assert methods["vse_fs"] == "VSE-fs"
    assert list(listed(capsys, "metrics")) == known_metrics()


def test_the_tasks_of_a_run_are_listed_with_their_methods(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    tasks = listed(capsys, "tasks", "--configuration", "config/corel5k.yaml")
    assert list(tasks) == ["corel5k-densehue/official"]
    assert "ridge" in tasks["corel5k-densehue/official"].split(", ")


def test_a_folder_without_configuration_is_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert run("list", "methods") == 1
    assert "run this command in the folder of the project" in capsys.readouterr().err
