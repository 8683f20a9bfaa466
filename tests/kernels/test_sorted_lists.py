import numpy as np
import pytest

from tests.reference.arrays import padded
from vsebench.kernels.sgd.sorted_lists import SortedLists, refresh_lists
from vsebench.kernels.vectors import LANES, aligned


@pytest.mark.parametrize("number", [np.uint16, np.int32])
@pytest.mark.parametrize("n_labels", [1, 2, 255, 3000])
def test_labels_are_sorted_by_each_factor(n_labels, number):
    rng = np.random.default_rng(n_labels)
    labels = rng.normal(0, 1, (n_labels, 5)).astype(np.float32)
    labels[:, 2] = 1 + rng.normal(0, 1e-5, n_labels)  # alike in all but the last bits
    labels[: n_labels // 3, 0] = 0.5  # ties keep the order of ids
    labels[: n_labels // 3, 1] = -0.0
    lists = SortedLists(np.empty((5, n_labels), dtype=number), aligned(LANES))
    refresh_lists(0, LANES, padded(labels), lists)
    for f in range(5):
        assert sorted(lists.order[f]) == list(range(n_labels))
        assert (np.diff(labels[lists.order[f], f]) <= 0).all()
    assert lists.order[0].tolist() == np.argsort(-labels[:, 0], kind="stable").tolist()
    np.testing.assert_allclose(lists.deviations[:5], labels.std(axis=0, dtype=float), rtol=1e-3, atol=1e-7)
