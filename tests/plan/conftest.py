import shutil

import pytest

from tests.plan.runs import CONFIG


@pytest.fixture
def folder(tmp_path):
    """A copy of the configuration, to change."""
    shutil.copytree(CONFIG, tmp_path / "config")
    return tmp_path / "config"
