"""Precision and sibling precision of the first labels of lists, by hand-worked lists."""

import numpy as np
import polars as pl
import pytest

from tests.builders import Given, held_out_of
from vsebench.core.schemas import LISTS
from vsebench.core.workers import workers
from vsebench.evaluation.metrics import mean_metric
from vsebench.evaluation.precision_at import by_image, hits, means
from vsebench.evaluation.ranking import list_tops, rank

SIBLINGS = pl.DataFrame({"label": [0, 1], "sibling": [1, 0]}, schema={"label": pl.Int32, "sibling": pl.Int32})


def lists(rows):
    """Build the lists of images 0, 1, ..., the first label first."""
    found = [(image, place, label) for image, row in enumerate(rows) for place, label in enumerate(row, start=1)]
    return pl.DataFrame(found, schema=LISTS, orient="row")


def right(*pairs):
    return pl.DataFrame(pairs, schema={"image": pl.Int32, "label": pl.Int32}, orient="row")


def test_the_papers_example():
    # A and B are siblings, C is alone; the ranking is B, C, A, and A is right.
    found = means(hits(lists([[1, 2, 0]]), right((0, 0)), SIBLINGS), 3)
    assert found["sibling_precision"].to_list() == pytest.approx([1, 1 / 2, 2 / 3])
    assert found["precision"].to_list() == pytest.approx([0, 0, 1 / 3])


def test_an_image_counts_labels_near_any_of_its_own():
    found = hits(lists([[1, 2, 0], [2, 0, 1]]), right((0, 0), (0, 2), (1, 2)), SIBLINGS)
    np.testing.assert_allclose(by_image(found, 2), [[1 / 2, 1], [1 / 2, 1 / 2]])


def test_an_image_without_a_label_is_left_out_and_a_set_without_siblings_has_none():
    found = hits(lists([[0, 1], [1, 0]]), right((1, 1)), None)
    assert found["image"].unique().to_list() == [1]
    assert means(found, 2)["sibling_precision"].to_list() == [None, None]
    assert means(found, 2)["precision"].to_list() == [1, 0.5]


def test_precision_is_that_of_the_ranks():
    rng = np.random.default_rng(3)
    held_out = held_out_of([sorted(rng.choice(30, 3, replace=False)) for _ in range(40)], 30)
    model = Given(rng.integers(0, 9, (40, 30)).astype(np.float32))  # with ties
    with workers(1) as pool:
        ranks = rank(model, held_out, None, pool, "model")
        found = means(hits(list_tops(model, held_out, None, pool), ranks, None), 10)
    for cutoff in (1, 5, 10):
        assert found["precision"][cutoff - 1] == pytest.approx(mean_metric(ranks, f"precision@{cutoff}"))
