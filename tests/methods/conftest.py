import numpy as np
import pytest

from tests.builders import matrix_of


@pytest.fixture
def small():
    """Thirty images of twelve labels: one without labels, one with a single label, some labels repeated."""
    rng = np.random.default_rng(5)
    rows = [sorted(rng.choice(12, size, replace=False)) for size in rng.integers(1, 6, 30)]
    rows[3], rows[4] = [], [7]
    return matrix_of(rows, 12, counts=rng.integers(1, 4, sum(len(row) for row in rows)))
