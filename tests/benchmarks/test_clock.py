"""Turns of contestants, and the row of a comparison."""

import polars as pl
import pytest

from benchmarks.clock import SCHEMA, comparison, interleave, named, timed

KEYS = {"what": "iteration", "size": "iapr", "threads": 1, "ours": "a", "peer": "b"}


def test_ratios_are_taken_within_a_repeat():
    row = comparison(KEYS, [1.0, 2.0, 4.0], [3.0, 4.0, 20.0], (0.5, 0.4))
    assert (row["ratio_median"], row["ratio_min"], row["ratio_max"]) == (3.0, 2.0, 5.0)
    assert (row["seconds_ours"], row["seconds_peer"], row["repeats"]) == (2.0, 4.0, 3)
    assert (row["quality_ours"], row["quality_peer"]) == (0.5, 0.4)
    assert pl.DataFrame([row], schema=SCHEMA).columns == list(row) == list(SCHEMA)


def test_quality_may_be_left_out():
    assert comparison(KEYS, [1.0], [1.0])["quality_ours"] is None


def test_as_many_repeats_on_both_sides():
    with pytest.raises(ValueError, match="zip"):
        comparison(KEYS, [1.0, 2.0], [1.0])


def test_contestants_take_turns_after_a_warm_up():
    calls: list[str] = []

    def turn(name, seconds):
        return lambda: calls.append(name) or seconds

    seconds = interleave([turn("a", 1.0), turn("b", 2.0), turn("c", 3.0)], repeats=3)
    assert "".join(calls) == "abc" + "abc" + "cba" + "abc"
    assert seconds == [[1.0] * 3, [2.0] * 3, [3.0] * 3]


def test_a_timed_turn_does_its_work():
    done = []
    assert timed(lambda: done.append(1))() >= 0
    assert done == [1]


def test_numbers_are_named():
    assert [named(n, "thread") for n in (1, 2)] == ["1 thread", "2 threads"]
