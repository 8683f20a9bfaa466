import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with real archives that VSEBENCH_MIRROR names."""
    place = os.environ.get("VSEBENCH_MIRROR", "")
    if not place or not Path(place).is_dir():
        pytest.skip("VSEBENCH_MIRROR names no folder: the real archives are not here")
    return Path(place)
