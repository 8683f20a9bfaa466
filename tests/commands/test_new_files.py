"""`vsebench new-method` and `new-dataset`: what they write passes its own test, and nothing is overwritten."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.docs.conftest import ROOT
from tests.stages.small import run


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new") / "repository"
    for name in ("src", "config"):
        shutil.copytree(ROOT / name, folder / name)  # with numba's cache
    for name in ("methods", "formats"):
        (folder / "tests" / name).mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    ("command", "test"), [("new-method", "methods/test_my_idea.py"), ("new-dataset", "formats/test_my_idea.py")]
)
def test_what_is_written_passes_its_test_and_the_linter_and_stays(command, test, repository, monkeypatch, capsys):
    monkeypatch.chdir(repository)
    assert run(command, "my_idea") == 0
    printed = capsys.readouterr().out
    written = [line for line in printed.splitlines() if (repository / line).is_file()]
    assert len(written) == 3
    environment = os.environ | {"PYTHONPATH": str(repository / "src")}
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/{test}"]
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    for python in (name for name in written if name.endswith(".py")):
        for check in (["check", "--quiet"], ["format", "--check", "--quiet"]):
            words = [sys.executable, "-m", "ruff", *check, "--config", str(ROOT / "pyproject.toml"), python]
            assert subprocess.run(words, check=False).returncode == 0, python
    texts = [(repository / name).read_bytes() for name in written]
    assert run(command, "my_idea") == 1
    assert "is there already; take another name" in capsys.readouterr().err
    assert [(repository / name).read_bytes() for name in written] == texts


@pytest.mark.parametrize("name", ["My-Idea", "../x", "1st", ""])
def test_a_name_that_is_none_is_refused(name, repository, monkeypatch, capsys):
    monkeypatch.chdir(repository)
    assert run("new-method", name) == 1
    assert "cannot be a name" in capsys.readouterr().err


def test_another_folder_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("new-dataset", "my_idea") == 1
    assert "run this in the folder of the repository" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
