"""The files of docs/templates, copied as described in docs/methods.md and docs/data.md, pass their own tests."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.docs.conftest import ROOT


@pytest.mark.parametrize("kind", ["method", "dataset"])
def test_a_copied_template_passes_its_test(kind, tmp_path):
    for name in ("src", "config", f"docs/templates/{kind}"):
        shutil.copytree(ROOT / name, tmp_path / name)  # with numba's cache
    shutil.copytree(tmp_path / "docs/templates" / kind, tmp_path, dirs_exist_ok=True)
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
