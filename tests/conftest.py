import os
from pathlib import Path

import pytest


@pytest.hookimpl(tryfirst=True)  # before the plugin that reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file on one worker, and those that share the finished run too; these start first."""
    items.sort(key=lambda item: "finished" not in fixtures_of(item))
    for item in items:
        group = "finished" if "finished" in fixtures_of(item) else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))


def fixtures_of(item: pytest.Item) -> list[str]:
    return getattr(item, "fixturenames", [])


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with real archives that VSEBENCH_MIRROR names."""
    place = os.environ.get("VSEBENCH_MIRROR", "")
    if not place or not Path(place).is_dir():
        pytest.skip("VSEBENCH_MIRROR names no folder: the real archives are not here")
    return Path(place)
