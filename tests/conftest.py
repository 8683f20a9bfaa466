import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=1000, deadline=None)
settings.load_profile("quick")

# These files of tests/workflow do not read the finished run.
ALONE = ("tests/workflow/test_own_", "tests/workflow/test_targets")
# These need many kernels.
COMPILING = (
    "tests/benchmarks/",
    "tests/commands/",
    "tests/docs/",
    "tests/evaluation/",
    "tests/kernels/",
    "tests/methods/",
    "tests/stages/",
)


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Keeps the tests of a file on one worker, and all tests that share the finished run of the workflow."""

    def _split_scope(self, nodeid: str) -> str:
        return "workflow" if shares_finished_run(nodeid) else nodeid.partition("::")[0]


def shares_finished_run(nodeid: str) -> bool:
    return nodeid.startswith("tests/workflow/") and not nodeid.startswith(ALONE)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByFile:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests, then those that compile no kernels, so that workers do not compile the same."""
    items.sort(key=lambda item: (not shares_finished_run(item.nodeid), item.nodeid.startswith(COMPILING)))


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over all modules and tests, which stay until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with real archives that VSEBENCH_MIRROR names."""
    folder = os.environ.get("VSEBENCH_MIRROR", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("VSEBENCH_MIRROR names no folder: the real archives are not here")
    return Path(folder)
