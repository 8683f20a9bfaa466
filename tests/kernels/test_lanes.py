import numpy as np
import pytest
from numba import njit

from vsebench.kernels.lanes import LANES, fill, load, over, prefetch, store, total, transpose


@njit
def combine(a, b, out):
    x, y = load(a, 3), load(b, (1, 2))
    store(out, (0, 0), x + y)
    store(out, (1, 0), x - y)
    store(out, (2, 0), x * y)
    store(out, (3, 0), np.float32(2) * x - fill(np.float32(1)))
    store(out, (4, 0), over(x, y))
    prefetch(b, (0, 0))
    return total(x)


def test_arithmetic_is_numpys():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=40).astype(np.float32), rng.normal(size=(3, 30)).astype(np.float32)
    b[1, 5] = 0
    b[1, 6] = np.nan
    out = np.empty((5, LANES), dtype=np.float32)
    added = combine(a, b, out)
    x, y = a[3 : 3 + LANES], b[1, 2 : 2 + LANES]
    np.testing.assert_allclose(out[:4], [x + y, x - y, x * y, 2 * x - 1], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(out[4], np.where(y > 0, x / np.where(y > 0, y, 1), 0), rtol=1e-6)
    assert added == pytest.approx(x.sum(), rel=1e-5)


def test_a_tile_is_transposed_in_its_place():
    @njit
    def turn(array):
        transpose(array, (LANES, 0))

    array = np.arange(3 * LANES * LANES, dtype=np.float32).reshape(3 * LANES, LANES)
    expected = array.copy()
    expected[LANES : 2 * LANES] = array[LANES : 2 * LANES].T
    turn(array)
    assert (array == expected).all()
