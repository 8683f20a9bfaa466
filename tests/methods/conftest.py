import numpy as np
import pytest

from vsebench.problem import LabelMatrix


def matrix_of(rows, n_labels, counts=None):
    """Build a label matrix from lists of labels, an image each."""
    offsets = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    labels = np.array([label for row in rows for label in row], dtype=np.int32)
    counts = np.ones(len(labels), dtype=np.int32) if counts is None else np.asarray(counts, dtype=np.int32)
    return LabelMatrix(n_labels, offsets, labels, counts)


@pytest.fixture
def build():
    return matrix_of


@pytest.fixture
def small():
    """Thirty images of twelve labels: one without labels, one with a single label, some labels repeated."""
    rng = np.random.default_rng(5)
    rows = [sorted(rng.choice(12, size, replace=False)) for size in rng.integers(1, 6, 30)]
    rows[3], rows[4] = [], [7]
    return matrix_of(rows, 12, counts=rng.integers(1, 4, sum(len(row) for row in rows)))


@pytest.fixture
def planted():
    """Images of four groups; a group's images draw six of its eight labels, so the missing two are the right answer."""
    rng = np.random.default_rng(11)
    rows = [sorted(8 * (image % 4) + rng.choice(8, 6, replace=False)) for image in range(400)]
    return matrix_of(rows, 32)
