"""The wheel, installed into a separate environment outside of the repository."""

import os
import site
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.docs.conftest import ROOT

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


def test_it_carries_the_settings_of_every_method(wheel: Path) -> None:
    own = {path.name: path.read_bytes() for path in (ROOT / "config/methods").glob("*.yaml")}
    with ZipFile(wheel) as archive:
        inside = [name for name in archive.namelist() if name.startswith("vsebench/config/methods/")]
        assert {Path(name).name: archive.read(name) for name in inside} == own


def test_it_carries_the_licence_and_the_notice(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        inside = {Path(name).name: archive.read(name) for name in archive.namelist() if "/licenses/" in name}
    assert inside == {name: (ROOT / name).read_bytes() for name in ("LICENSE", "NOTICE")}


def test_it_works_outside_of_the_repository(wheel: Path, tmp_path: Path) -> None:
    """No package index is needed: a .pth file makes the packages of this environment visible."""
    home = tmp_path / "outside"
    venv.create(home, symlinks=True)
    packages = home / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    pip = [sys.executable, "-m", "pip", "--python", str(home), "install", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    hidden = ("PYTHONPATH", "VSEBENCH_MIRROR")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}

    def call(program: str, *words: str) -> str:
        command = [home / "bin" / program, *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    call("python", "-c", PROGRAM)
    assert "doctor" in call("vsebench", "--help")
    assert "MISSING" not in call("vsebench", "doctor")
