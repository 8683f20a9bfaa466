"""Ten thousand damaged files for each reader; `python -m tests.fuzz.run` does the same and prints counts."""

import pytest

from tests.fuzz.run import fuzz
from tests.fuzz.targets import TARGETS
from tests.fuzz.test_fuzz import UNCHECKED


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", sorted(TARGETS.keys() - UNCHECKED))
def test_damaged_files_at_length(name):
    happened, faults = fuzz(TARGETS[name], number=10_000, seed=0)
    assert faults == {}
    assert happened.total() == 10_000
