"""Runs that are killed at random moments and resumed; `python -m tests.workflow.kills` prints what happened."""

import pytest

from tests.workflow.kills import rounds


@pytest.mark.long
def test_killed_runs_end_with_the_same_files(tmp_path):
    ends = list(rounds(20, 1, tmp_path))
    assert ends
    for end in ends:
        assert end["finished"]
        assert end["differences"] == []
