import numpy as np
import pytest
from numba import njit

from vsebench.kernels.lanes import (
    LANES,
    add_products,
    count_bits,
    exceeding,
    fill,
    load,
    no_sums,
    numbers,
    over,
    prefetch,
    store,
    total,
    transpose,
)


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


def test_products_of_whole_numbers_are_added_in_pairs():
    @njit
    def add(a, b, out):
        sums = no_sums()
        for k in range(0, a.shape[1], 2):
            sums = add_products(sums, a, (1, k), b, (k // 2, 0))
        store(out, 0, numbers(sums))

    rng = np.random.default_rng(2)
    a, b = rng.integers(-4000, 4000, (2, 6), dtype=np.int16), rng.integers(-500, 500, (LANES, 6), dtype=np.int16)
    out = np.empty(LANES, dtype=np.float32)
    add(a, np.ascontiguousarray(b.reshape(LANES, 3, 2).transpose(1, 0, 2)).reshape(3, 2 * LANES), out)
    assert (out == b.astype(np.int64) @ a[1]).all()


def test_products_of_the_largest_numbers_fit():
    @njit
    def add(a, b, out):
        store(out, 0, numbers(add_products(no_sums(), a, 0, b, 0)))

    out = np.empty(LANES, dtype=np.float32)
    add(np.full(2, 32767, dtype=np.int16), np.full(2 * LANES, -32767, dtype=np.int16), out)
    assert (out == np.float32(-2 * 32767**2)).all()


def test_numbers_above_a_bound_are_told_by_bits():
    @njit
    def compare(values, bound):
        bits = exceeding(load(values, 0), np.float32(bound))
        return bits, count_bits(bits)

    values = np.array([-3, -2, -1, 0, 1, 2, 3, np.nan, np.inf, -np.inf, 2.5, -2.5, 0, 0, 0, 9], dtype=np.float32)
    bits, count = compare(values, 2)
    assert [bool(bits >> lane & 1) for lane in range(63)] == [*(values > 2), *[False] * 47]
    assert count == 4
