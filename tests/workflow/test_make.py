"""What `make` runs."""

import os
import subprocess
import sys

from tests.workflow.project import ROOT


def make(*variables):
    """Return what `make run` would do."""
    command = ["make", "--dry-run", "--assume-old=setup", "run", "CORES=2", *variables]
    outside = {"PATH": os.environ["PATH"]}  # `make test` passes its own flags on in the environment
    done = subprocess.run(command, cwd=ROOT, env=outside, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_make_runs_the_default_configuration():
    assert make() == [".venv/bin/vsebench run   --cores 2"]


def test_make_runs_targets_of_another_configuration():
    commands = make("CONFIG=config/my run.yaml", "TARGETS=accuracy claims")
    assert commands == [".venv/bin/vsebench run 'config/my run.yaml' accuracy claims --cores 2"]


def test_make_runs_in_another_folder_with_the_data_of_the_project():
    (command,) = make("OUT=runs/mine")
    assert command == ".venv/bin/vsebench run   --cores 2 --out 'runs/mine'"


def test_make_runs_the_tests_that_need_pytorch_or_onnxruntime():
    installed = [f"--assume-old=setup-{name}" for name in ("dev", "images", "torch")]
    outside = {"PATH": os.environ["PATH"]}
    command = ["make", "--dry-run", *installed, "test-networks"]
    done = subprocess.run(command, cwd=ROOT, env=outside, capture_output=True, text=True, check=True)
    _, *files = done.stdout.splitlines()[-1].split()
    needed = {"tests/workflow/test_export_clip.py", "tests/workflow/test_clip.py", "tests/stages/test_command.py"}
    assert needed <= set(files)


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
    first = "vsebench needs Python 3.11 or newer, and the Python in .venv is older; delete .venv and run make again"
    assert done.stderr.splitlines()[0] == first
    assert not (tmp_path / ".venv" / ".installed").exists()
