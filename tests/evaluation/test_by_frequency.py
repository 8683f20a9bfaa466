"""Recall of frequent and of rare labels, by hand and against a plain computation."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.core.schemas import PAIRS, RANKS
from vsebench.evaluation.by_frequency import cutoff_for, recall_by_frequency


def ranks(lines):
    """Lines of image, label and labels above, None for a label that is no candidate."""
    full = [(image, label, above, None if above is None else 0, None if above is None else 1, 9, False)
            for image, label, above in lines]  # fmt: skip
    return pl.DataFrame(full, schema=RANKS, orient="row")


def training(counts):
    pairs = [(image, label, 1) for label, count in counts.items() for image in range(count)]
    return pl.DataFrame(pairs, schema=PAIRS, orient="row")


def test_a_label_counts_once_however_often_it_is_held_out():
    # Label 0 is found in one of three images, label 1 in its only one. Label 2 is no candidate, label 9 not held out.
    found = recall_by_frequency(
        ranks([(0, 0, 0), (1, 0, 5), (2, 0, 4), (3, 1, 1), (4, 2, None)]), training({0: 7, 1: 7, 2: 2, 9: 30}), 2
    )
    assert found.rows() == [(1, 1, 7, 7, pytest.approx(1 / 3)), (2, 1, 7, 7, 1.0), (3, 1, 2, 2, 0.0)]


@pytest.mark.parametrize(
    ("held_out", "metrics", "cutoff"),
    [
        ([1, 1, 2], ["map", "precision@1", "recall@5"], 1),
        ([3, 4, 4], ["precision@1", "recall@5", "recall@10"], 5),
        ([1, 1, 1], ["recall@5", "precision@1"], 5),
        ([9, 9, 9], ["recall@5", "map"], 10),
        ([1, 1, 1], ["map"], 10),
    ],
)
def test_the_cut_off_is_the_first_that_a_perfect_ranking_needs_or_else_10(held_out, metrics, cutoff):
    lines = [(image, label, 0) for image, number in enumerate(held_out) for label in range(number)]
    assert cutoff_for(ranks(lines), metrics) == cutoff


def test_labels_that_were_never_trained_have_no_groups():
    assert recall_by_frequency(ranks([(0, 0, 0), (1, 1, 0)]), training({}), 10).is_empty()


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_the_groups_are_those_of_a_sorted_list(n_labels, seed):
    rng = np.random.default_rng(seed)
    counts = {label: int(rng.integers(1, 9)) for label in range(n_labels)}
    above = rng.integers(0, 6, n_labels)
    found = recall_by_frequency(ranks([(n, n, int(above[n])) for n in range(n_labels)]), training(counts), 3)
    order = sorted(counts, key=lambda label: (-counts[label], label))
    bands = min(5, n_labels)
    for band, labels, fewest, most, value in found.iter_rows():
        own = [label for index, label in enumerate(order) if index * bands // n_labels == band - 1]
        assert (labels, fewest, most) == (len(own), min(map(counts.get, own)), max(map(counts.get, own)))
        assert value == pytest.approx(np.mean([above[label] < 3 for label in own]))
    assert found["labels"].sum() == n_labels
