import numpy as np
import pytest
from scipy import stats

from tests.reference.arrays import with_unused
from vsebench.kernels.random_numbers import new_state
from vsebench.kernels.sgd.sampling import Streams, contains, draw_negative


@pytest.mark.parametrize("length", [0, 1, 16, 17, 40])
def test_contains_looks_at_an_images_labels_alone(length):
    row_labels = with_unused(np.arange(60))
    for start in (0, 5):
        actual = [label for label in range(60) if contains(row_labels, start, start + length, label)]
        assert actual == list(range(start, start + length))


def test_negatives_avoid_positives_and_are_uniform():
    state, row_labels = new_state(10), with_unused([1, 4])
    counts = np.bincount([draw_negative(row_labels, 0, 2, 8, state) for _ in range(12000)], minlength=8)
    assert counts[[1, 4]].sum() == 0
    assert stats.chisquare(np.delete(counts, [1, 4])).pvalue > 1e-3


def test_streams_are_independent_of_each_other():
    assert len({int(stream[0]) for stream in (*Streams.of(1, 2, 3, 4), *Streams.of(2, 2, 3, 4))}) == 6
