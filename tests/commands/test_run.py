"""The command `vsebench run`: what it starts, and mistakes that are one line before Snakemake starts."""

import os
import sys

import pytest
import snakemake.cli

from tests.stages.small import run
from tests.workflow.project import ROOT
from vsebench.commands.run import PROFILE, options_of

NOT_MADE = "the run of config/config.yaml does not make this file"


@pytest.fixture
def started(monkeypatch):
    """Run the command in the repository's folder; returns the words with which it would run Snakemake."""
    lines = []
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setenv("PWD", str(ROOT))
    monkeypatch.setattr(snakemake.cli, "main", lambda: lines.append(list(sys.argv)))

    def start(*words):
        assert run("run", *words) == 0
        return lines.pop()

    return start


def test_the_options_of_the_profile_are_given_to_snakemake(started, tmp_path):
    line = started()
    assert line[line.index("--workflow-profile") + 1] == "none"
    assert "--rerun-incomplete" in line
    assert line[line.index("--rerun-triggers") + 1 :][:4] == ["mtime", "params", "input", "code"]
    assert "runtime=60" in line[line.index("--default-resources") + 1 :][:3]
    assert options_of(tmp_path / "none.yaml") == []


def test_the_default_run_is_started_on_all_cores_without_the_messages_that_progress_replaces(started):
    quiet = ["--quiet", "host", "reason", "rules"]
    assert started() == ["snakemake", "--cores", "all", *options_of(ROOT / PROFILE), *quiet]


def test_a_configuration_and_targets_are_told_apart_by_the_ending(started):
    line = started("accuracy", "config/corel5k.yaml", "--cores", "2", "figures/overview.pdf", "--dry-run")
    options = [*options_of(ROOT / PROFILE), "--dry-run", "--configfile", "config/corel5k.yaml"]
    assert line == ["snakemake", "accuracy", "figures/overview.pdf", "--cores", "2", *options]


def test_a_folder_of_the_runs_own_shares_the_data_of_the_project(started, monkeypatch):
    monkeypatch.setenv("VSEBENCH_DATA", "")
    monkeypatch.delenv("PWD", raising=False)
    assert started("--out", "runs/mine")[-2:] == ["--directory", "runs/mine"]
    assert os.environ["VSEBENCH_DATA"] == str(ROOT / "data")
    assert os.environ["PWD"] == str(ROOT)


@pytest.mark.parametrize(
    ("mirror", "seen"),
    [("archives", f"{ROOT}/archives"), ("~/archives", "/someone/archives"), ("https://a.org/b", "https://a.org/b")],
)
def test_jobs_find_the_mirror_from_the_folder_of_the_run(started, monkeypatch, mirror, seen):
    monkeypatch.setenv("HOME", "/someone")
    monkeypatch.setenv("VSEBENCH_DATA", "")
    monkeypatch.setenv("VSEBENCH_MIRROR", mirror)
    started("--out", "runs/mine")
    assert os.environ["VSEBENCH_MIRROR"] == seen


@pytest.mark.parametrize(
    ("mirror", "message"),
    [
        ("ftp://me:secret@example.org/a", "ftp://example.org/a is neither a folder nor a web address; set it to a"),
        ("~no-such-user/archives", "~no-such-user/archives: there is no such user; correct or unset VSEBENCH_MIRROR"),
    ],
)
def test_a_mirror_that_cannot_be_one_is_one_line(monkeypatch, capsys, mirror, message):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("VSEBENCH_MIRROR", mirror)
    assert run("run") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"vsebench run: VSEBENCH_MIRROR: {message}")


OF_TASK = "results/visual-genome-500/distinct"


@pytest.mark.parametrize("file", ["summary.parquet", "seed5/split/split.json", "seed1/ease/model.npz"])
def test_a_file_of_a_task_is_a_target(started, file):
    assert f"{OF_TASK}/{file}" in started(f"{OF_TASK}/{file}")


def test_a_log_or_a_file_of_a_pack_is_not_taken_for_one_of_a_task(started):
    assert "results/logs/prepare/sim-iapr.log" in started("results/logs/prepare/sim-iapr.log")


def test_a_table_of_a_paper_is_a_target(started):
    assert "wsabie_table2" in started("config/wsabie.yaml", "wsabie_table2")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["acuracy"], "there is no target 'acuracy'; did you mean accuracy? the main ones are accuracy, all, "),
        (
            ["figures/overwiew.pdf"],
            f"figures/overwiew.pdf: {NOT_MADE}; did you mean overview? ",
        ),
        (
            ["results/tables/zzz.md"],
            f"results/tables/zzz.md: {NOT_MADE}; name another configuration",
        ),
        (["config/lsep.yaml", "config/iapr.yaml"], "config/lsep.yaml and config/iapr.yaml: a run has one"),
        (["config/none.yaml"], "config/none.yaml: no such file"),
        (["--out", "Makefile"], "--out Makefile: Makefile is a file; name a folder"),
        (["--out", "Makefile/mine"], "--out Makefile/mine: Makefile is a file; name a folder"),
    ],
)
def test_a_wrong_target_or_configuration_is_one_line(monkeypatch, capsys, words, message):
    monkeypatch.chdir(ROOT)
    assert run("run", *words) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"vsebench run: {message}")


@pytest.mark.parametrize(
    ("target", "lacking"),
    [
        ("results/my-photos/official/seed1/split/split.json", "data set 'my-photos'; "),
        ("results/visual-genome-50/distinct/summary.parquet", "data set 'visual-genome-50'; did you mean visual-"),
        ("results/visual-genome-500/distinc/summary.parquet", "protocol 'distinc' for visual-genome-500; did you mean"),
        (f"{OF_TASK}/seed9/split/split.json", "seed 9 for visual-genome-500/distinct, only 1, 2, 3, 4, 5; "),
        (f"{OF_TASK}/seed9/ease/model.npz", "seed 9 for visual-genome-500/distinct, only 1, 2, 3, 4, 5; "),
        (f"{OF_TASK}/seed1/esae/model.npz", "method 'esae' for visual-genome-500/distinct; did you mean ease? "),
        (
            f"{OF_TASK}/seed1/ridge/model.npz",
            "method 'ridge' for visual-genome-500/distinct (the data set has no image features); ",
        ),
    ],
)
def test_a_file_of_a_task_that_the_run_lacks_is_one_line(monkeypatch, capsys, target, lacking):
    monkeypatch.chdir(ROOT)
    assert run("run", target) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"vsebench run: {target}: the run of config/config.yaml has no {lacking}")
    assert line.endswith("name a configuration that has it: `vsebench run FILE TARGET`")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds: [1, 2", "not readable YAML"),
        ("seeds: [1]\nseeds: [2]\n", "'seeds'"),
        ("- seeds\n", "must be a YAML mapping of keys to values"),
        ("", "must be a YAML mapping of keys to values"),
        (None, "Is a directory"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_one_line(monkeypatch, capsys, tmp_path, text, message):
    monkeypatch.chdir(ROOT)
    path = tmp_path / "my run.yaml"
    if text is None:
        path.mkdir()
    else:
        path.write_text(text, encoding="utf-8")
    assert run("run", path) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"vsebench run: {path}: ")
    assert message in line


def test_another_folder_is_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert run("run") == 1
    assert "there is no Snakefile in this folder" in capsys.readouterr().err
