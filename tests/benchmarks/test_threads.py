"""The same work on several threads, on tiny data."""

from dataclasses import replace

import polars as pl
import pytest

from benchmarks import threads
from benchmarks.plan import QUICK, Training


@pytest.mark.parametrize(("cores", "expected"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])])
def test_numbers_of_threads_double_up_to_the_number_of_cores(cores, expected):
    assert threads.counts(cores) == expected


def test_results_are_the_same_bytes_on_all_numbers_of_threads():
    plan = replace(QUICK, trainings={"iapr": Training(1, 1)}, scale=0.05, factors=16, repeats=2, threads=(1, 4))
    rows = threads.measure(plan)
    assert rows["threads"].to_list() == [1, 2, 4] * 6
    assert rows["same"].all()
    assert rows.filter(threads=1)["speedup"].to_list() == [1.0] * 6
    assert rows.group_by("work").agg(pl.len())["len"].to_list() == [3] * 6


def test_other_bytes_are_reported():
    """Each call returns another result."""
    results = iter(range(10))
    rows = threads.compare({}, lambda _: (lambda: None, lambda: [bytes([next(results)])]), replace(QUICK, threads=(2,)))
    assert [row["same"] for row in rows] == [True, False]
