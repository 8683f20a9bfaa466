import os
import resource
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from vsebench import cli
from vsebench.core import storage
from vsebench.core.errors import IMAGES, PEERS, UserError, missing_package, refusal, seen_from_start


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("implicit", "it needs the package implicit; `make setup-peers` installs it"),
        ("implicit.als", "it needs the package implicit; `make setup-peers` installs it"),
        ("onnxruntime.capi", "it needs the package onnxruntime; `make setup-images` installs it"),
        ("tokenizers", "it needs the package tokenizers; `make setup-images` installs it"),
        ("torchish", "it needs the package torchish; install it, usually with `pip install torchish`"),
        ("vsebench.kernals", "there is no module vsebench.kernals"),
    ],
)
def test_what_to_do_about_a_missing_package(name, words):
    assert missing_package(name) == words


def test_the_peers_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert {name.removesuffix("-next").removesuffix("-cpu") for name in project["dependency-groups"]["peers"]} == PEERS


def test_packages_that_run_networks_are_in_the_extra_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert {name.partition(">")[0] for name in project["project"]["optional-dependencies"]["images"]} >= IMAGES


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("Unable to allocate 8 TiB"), "memory ran out (Unable to allocate 8 TiB)"),
        (MemoryError(), "memory ran out"),
        (OSError(28, "No space left on device", "a/b"), "a/b: No space left on device"),
        (OSError(30, "Read-only file system"), "Read-only file system"),
        (pl.exceptions.ComputeError("underlying IO error: File too large (os error 27)"), "File too large"),
        (OSError("File too large (os error 27)"), "File too large"),
        (OSError(2, "No such file or directory", "a/b"), None),
        (OSError("some text"), None),
        (ValueError("wrong"), None),
        (pl.exceptions.ComputeError("wrong"), None),
    ],
)
def test_what_the_system_refused_is_told_and_other_errors_are_not(error, words):
    assert refusal(error) == words


@pytest.mark.parametrize("error", [MemoryError("Unable to allocate 8 TiB"), OSError(28, "No space left on device")])
def test_a_command_ends_in_one_line_if_the_system_refuses_something(monkeypatch, capsys, error):
    def run(arguments):
        raise error

    monkeypatch.setattr("vsebench.stages.audit.run", run)
    assert cli.main(["stage", "audit", "--papers", "p", "--out", "x"]) == 1
    assert capsys.readouterr().err == f"vsebench audit: {refusal(error)}\n"


def test_a_mistake_in_the_code_keeps_its_traceback(monkeypatch):
    def run(arguments):
        raise OSError(2, "No such file or directory")

    monkeypatch.setattr("vsebench.stages.audit.run", run)
    with pytest.raises(FileNotFoundError):
        cli.main(["stage", "audit", "--papers", "p", "--out", "x"])


@pytest.fixture
def small_files():
    """Limit the size of files to 1,000 bytes; the system then refuses to write, as on a full disk."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


WRITERS = {
    "a.parquet": lambda path: storage.write_parquet(pl.DataFrame({"a": np.random.default_rng(1).random(9999)}), path),
    "a.npz": lambda path: storage.write_arrays(path, a=np.zeros(9999)),
    "a.json": lambda path: storage.write_json(["text"] * 9999, path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_one_line_and_leaves_no_file(small_files, tmp_path, name):
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(UserError, match=f"{name}: cannot be written: File too large"):
        WRITERS[name](path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == [name]


# What is imported is imported before the process gives up its rights, since the files of the project may be root's.
WITHOUT_RIGHTS = """
import os, pathlib, sys
from vsebench.core import errors, storage
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    storage.write_json([], pathlib.Path(sys.argv[1], "a.json"))
except errors.UserError as error:
    print(error)
"""


def test_a_folder_without_permission_is_one_line(tmp_path):
    folder = tmp_path / "read only"
    folder.mkdir(mode=0o555)
    for parent in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        if parent.owner() == Path.home().owner() and os.getuid() == 0:
            parent.chmod(0o755)  # so that a user without rights finds the folder
    found = subprocess.run(
        [sys.executable, "-c", WITHOUT_RIGHTS, str(folder)], text=True, capture_output=True, check=True
    )
    assert "a.json: cannot be written: " in found.stdout
    assert "Permission denied" in found.stdout
    assert not any(folder.iterdir())


@pytest.mark.parametrize(
    ("message", "seen"),
    [
        ("data/processed/photos: no parts", "runs/mine/data/processed/photos: no parts"),
        ("../../my data.csv", "my data.csv"),
        ("'results/a.log' (in /tmp/results/b)", "'runs/mine/results/a.log' (in /tmp/results/b)"),
        ("no such file (/a/../../b.csv)", "no such file (/a/../../b.csv)"),
        ("config/results/x.yaml: 1/2 of results", "config/results/x.yaml: 1/2 of results"),
    ],
)
def test_paths_of_a_run_are_named_as_where_it_was_started(tmp_path, monkeypatch, message, seen):
    monkeypatch.setenv("PWD", str(tmp_path))
    assert seen_from_start(message, tmp_path / "runs/mine") == seen
    assert seen_from_start(seen, tmp_path) == seen
