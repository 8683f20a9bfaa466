"""The work of an iteration of VSE-fs, counted by hand, and its measurement on tiny data."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import limits
from benchmarks.plan import QUICK, Training
from tests.builders import matrix_of
from vsebench.kernels.vectors import aligned


def test_the_work_of_an_iteration_by_hand():
    """Three images, two labels, four pairs, K = 32."""
    of_images, of_labels = limits.needed(matrix_of([[0], [0, 1], [1]], 2), 32)
    assert of_images == (3 * 3 * 1024 + 8 * 4 * 32, 4 * (2 * 3 * 32 + 3 * 4), 2 * 4 * 2)
    assert of_labels == (3 * 2 * 1024 + 8 * 4 * 32, 4 * 5 * 4 * 2, 4 * 2)


def test_rows_are_read_and_copied():
    array, out, total = aligned(50, 16), aligned(50, 16), aligned(1, 16)
    array[:] = np.arange(50, dtype=np.float32)[:, np.newaxis]
    rows = np.arange(45, dtype=np.int32)
    limits.read_rows(array, rows, total[0])
    assert total.tolist() == [[sum(range(45 - limits.AHEAD))] * 16]
    limits.copy_rows(array, out)
    assert np.array_equal(array, out)


def test_each_share_is_that_of_the_slowest_kind_of_work(monkeypatch):
    monkeypatch.setattr(limits, "SIDE", 64)
    monkeypatch.setattr(limits, "DRAWS", 1 << 12)
    plan = replace(QUICK, trainings={"iapr": Training(1, 1)}, scale=0.02, factors=32, repeats=2, threads=(1, 2))
    rows = limits.measure(plan)
    assert rows["update"].to_list() == ["images", "labels", "both"] * 2
    for row in rows.filter(rows["update"] != "both").iter_rows(named=True):
        slowest = max(row[name] for name in ("operations", "streams", "rows"))
        assert row["share"] == pytest.approx(slowest / row["seconds"])
