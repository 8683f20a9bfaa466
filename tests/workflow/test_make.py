"""`make CONFIG=...`: a file that cannot be read is reported in one line before Snakemake starts."""

import os
import subprocess
import sys

import pytest

from tests.workflow.project import ROOT


def check(path):
    command = [sys.executable, ROOT / "workflow" / "check_config.py", path]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def make(*variables):
    """Return what `make run` would do."""
    command = ["make", "--dry-run", "--assume-old=setup", "run", "CORES=2", *variables]
    outside = {"PATH": os.environ["PATH"]}  # `make test` passes its own flags on in the environment
    done = subprocess.run(command, cwd=ROOT, env=outside, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_configuration_that_can_be_read_passes():
    done = check(ROOT / "config" / "iapr.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file"),
        ("seeds: [1, 2", "not readable YAML"),
        ("seeds: [1]\nseeds: [2]\n", "'seeds'"),
        ("- seeds\n", "no keys"),
        ("", "no keys"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_one_line(tmp_path, text, message):
    path = tmp_path / "my run.yaml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    done = check(path)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"vsebench: {path}: ")
    assert message in line


def test_a_folder_is_no_configuration(tmp_path):
    done = check(tmp_path)
    assert (done.returncode, done.stderr) == (1, f"vsebench: {tmp_path}: Is a directory\n")


def test_make_runs_the_default_configuration():
    assert make() == [".venv/bin/snakemake  --cores 2 --quiet rules reason "]


def test_make_checks_and_runs_another_configuration():
    commands = make("CONFIG=config/my run.yaml", "TARGETS=accuracy claims")
    assert commands == [
        ".venv/bin/python workflow/check_config.py 'config/my run.yaml'",
        ".venv/bin/snakemake accuracy claims --cores 2 --quiet rules reason --configfile 'config/my run.yaml'",
    ]


def test_make_runs_in_another_folder_with_the_data_of_the_project():
    (command,) = make("OUT=runs/mine")
    assert command.startswith("VSEBENCH_DATA='")
    assert command.endswith("/data' .venv/bin/snakemake  --cores 2 --quiet rules reason --directory 'runs/mine' ")


def test_a_venv_of_an_older_python_is_one_line(tmp_path):
    for name in ("Makefile", "pyproject.toml", "requirements"):
        (tmp_path / name).symlink_to(ROOT / name)
    old = tmp_path / ".venv" / "bin" / "python"
    old.parent.mkdir(parents=True)
    code = "import sys; sys.version_info = (3, 9, 1); exec(sys.argv[1])"
    old.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" "$2"\n', encoding="utf-8")
    old.chmod(0o755)
    outside = {"PATH": os.environ["PATH"]}
    done = subprocess.run(["make", "setup"], cwd=tmp_path, env=outside, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    first = "vsebench needs Python 3.11 or newer, and that in .venv is older; delete .venv and run make again"
    assert done.stderr.splitlines()[0] == first
    assert not (tmp_path / ".venv" / ".installed").exists()
