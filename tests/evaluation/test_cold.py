"""Metrics of images with and without a training label."""

import polars as pl
import pytest

from vsebench.core.schemas import RANKS
from vsebench.evaluation.measuring import values_of_cold


def test_the_groups_have_their_own_means():
    lines = [(0, 1, 0, 0, 1, 9, False), (1, 1, 0, 0, 1, 9, True), (2, 1, 5, 0, 1, 9, True), (2, 2, 0, 0, 1, 9, True)]
    found = values_of_cold(pl.DataFrame(lines, schema=RANKS, orient="row"), ["recall@1"])
    values = {images: (value, n) for _, images, value, n in found.iter_rows()}
    assert values == {"all": (pytest.approx(2.5 / 3), 3), "cold": (0.75, 2), "others": (1.0, 1)}


def test_a_group_without_images_has_no_line():
    ranks = pl.DataFrame([(0, 1, 0, 0, 1, 9, False)], schema=RANKS, orient="row")
    assert values_of_cold(ranks, ["map"])["images"].to_list() == ["all", "others"]
