"""The wheel, installed into a separate environment outside of the repository."""

import os
import site
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.docs.conftest import ROOT
from vsebench.commands.demo import PARTS

PROGRAM = """
import numpy as np
from scipy import sparse
import vsebench
assert "outside" in vsebench.__file__, vsebench.__file__
labels = np.random.default_rng(1).random((60, 12)) < 0.4
matrix = sparse.csr_array(labels.astype(int))
first, scores = vsebench.fit("vse_fs", matrix, factors=4, epochs=3).top(k=3)
assert first.shape == (60, 3) and not labels[np.arange(60)[:, None], first][np.isfinite(scores)].any()
table = vsebench.evaluate(["popularity", "vse_fs"], matrix, factors=4, metrics=["recall@5"])
assert table["method"].to_list() == ["popularity", "vse_fs"]
assert table["value"].is_between(0, 1).all()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_it_carries_what_a_run_needs(wheel: Path) -> None:
    files = [file for part in PARTS for file in (ROOT / part, *(ROOT / part).rglob("*"))]
    own = {str(file.relative_to(ROOT)): file.read_bytes() for file in files if file.is_file() and file.suffix != ".pyc"}
    with ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("vsebench/project/") and ".pyc" not in name]
        assert {name.removeprefix("vsebench/project/"): archive.read(name) for name in names} == own


def test_it_carries_the_licence_and_the_notice(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        inside = {Path(name).name: archive.read(name) for name in archive.namelist() if "/licenses/" in name}
    assert inside == {name: (ROOT / name).read_bytes() for name in ("LICENSE", "NOTICE")}


@pytest.fixture(scope="module")
def call(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Return a function that calls a program of an environment with the wheel, in a folder outside of the repository.

    No package index is needed: a .pth file makes the packages of this environment visible.
    """
    folder = tmp_path_factory.mktemp("user")
    home = folder / "outside"
    venv.create(home, symlinks=True)
    packages = home / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    pip = [sys.executable, "-m", "pip", "--python", str(home), "install", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    hidden = ("PYTHONPATH", "VSEBENCH_MIRROR", "VSEBENCH_SERVER")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}

    def call(program: str, *words: str, folder: Path = folder, status: int = 0) -> str:
        command = [home / "bin" / program, *words]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    return call


def test_it_works_outside_of_the_repository(call: Callable[..., str]) -> None:
    call("python", "-c", PROGRAM)
    assert "doctor" in call("vsebench", "--help")
    assert "MISSING" not in call("vsebench", "doctor")


def test_a_run_can_be_made_outside_of_the_repository(call: Callable[..., str], tmp_path: Path) -> None:
    code = "import pathlib, sys; from vsebench.commands import demo; demo.copy_project(pathlib.Path(sys.argv[1]))"
    call("python", "-c", code, str(tmp_path))
    for configuration in ("config/demo.yaml", "config/own.yaml"):
        assert "report_page" in call("vsebench", "run", configuration, "--dry-run", "--cores", "1", folder=tmp_path)
    assert "exists and is not an empty folder" in call("vsebench", "demo", str(tmp_path), status=1)


@pytest.mark.long
def test_the_demo_ends_with_a_report(call: Callable[..., str], tmp_path: Path) -> None:
    assert "results/report.html" in call("vsebench", "demo", str(tmp_path / "demo"))
    assert (tmp_path / "demo/results/report.html").is_file()
