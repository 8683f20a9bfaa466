"""Each operation of the vector type, against NumPy."""

import numpy as np
import pytest
from numba import njit

from vsebench.kernels import vectors
from vsebench.kernels.vectors import (
    CACHE_LINE,
    LANES,
    absolute,
    add_products,
    add_up,
    aligned,
    any_equal,
    broadcast,
    count_bits,
    cumsum,
    divide,
    divide_or_zero,
    greater_mask,
    load,
    padded_size,
    prefetch,
    scratch,
    sqrt,
    store,
    to_float,
    transpose,
    zero_sums,
)

RNG = np.random.default_rng(1)
A, B = RNG.normal(size=(2, LANES)).astype(np.float32)
B[5], B[6] = 0, np.nan
X = np.float32(2.5)


OPERATIONS = {  # name: an operation on a, b and x, and its result
    "add": (lambda a, b, x: load(a, 0) + load(b, 0), A + B),
    "subtract": (lambda a, b, x: load(a, 0) - load(b, 0), A - B),
    "multiply": (lambda a, b, x: load(a, 0) * load(b, 0), A * B),
    "add to a number": (lambda a, b, x: x + load(a, 0), X + A),
    "subtract from a number": (lambda a, b, x: x - load(a, 0), X - A),
    "multiply by a number": (lambda a, b, x: x * load(a, 0), X * A),
    "broadcast": (lambda a, b, x: broadcast(x), np.full(LANES, X)),
    "absolute": (lambda a, b, x: absolute(load(a, 0)), np.abs(A)),
    "sqrt": (lambda a, b, x: sqrt(absolute(load(a, 0))), np.sqrt(np.abs(A))),
    "cumsum": (lambda a, b, x: cumsum(load(a, 0)), np.cumsum(A)),
    "divide": (lambda a, b, x: divide(load(a, 0), broadcast(x)), A / X),
    "divide_or_zero": (
        lambda a, b, x: divide_or_zero(load(a, 0), load(b, 0)),
        np.where(B > 0, A / np.where(B > 0, B, 1), 0),
    ),
}


@pytest.mark.parametrize(("operation", "expected"), OPERATIONS.values(), ids=OPERATIONS)
def test_operation_is_numpys(operation, expected):
    compiled = njit(operation, inline="always")
    out = np.empty(LANES, dtype=np.float32)
    njit(lambda a, b, x, out: store(out, 0, compiled(a, b, x)))(A, B, X, out)
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-6)


def test_every_operation_is_tested_here():
    operations = {name for name, value in vars(vectors).items() if type(value).__name__ == "_Intrinsic"}
    assert operations <= set(globals())


def test_load_and_store_at_any_index():
    @njit
    def copy(source, target):
        store(target, (1, 3), load(source, 5))

    source, target = np.arange(30, dtype=np.float32), np.zeros((2, 20), dtype=np.float32)
    copy(source, target)
    expected = np.zeros((2, 20))
    expected[1, 3:19] = np.arange(5, 21)
    assert (target == expected).all()


def test_add_up_is_the_sum():
    total = njit(lambda a: add_up(load(a, 0)))
    assert total(A) == pytest.approx(A.sum(), rel=1e-5)


def test_greater_mask_has_a_bit_per_number_and_count_bits_counts_them():
    @njit
    def compare(values, bound):
        mask = greater_mask(load(values, 0), np.float32(bound))
        return mask, count_bits(mask)

    values = np.array([-3, -2, -1, 0, 1, 2, 3, np.nan, np.inf, -np.inf, 2.5, -2.5, 0, 0, 0, 9], dtype=np.float32)
    mask, count = compare(values, 2)
    assert [bool(mask >> lane & 1) for lane in range(63)] == [*(values > 2), *[False] * 47]
    assert count == 4


@pytest.mark.parametrize("n", [0, 1, 7, 16, 20])
def test_any_equal_looks_at_n_numbers(n):
    check = njit(lambda array, index, n, number: any_equal(array, index, n, number))
    array = np.arange(40, dtype=np.int32)
    assert [number for number in range(40) if check(array, 3, n, number)] == list(range(3, 3 + min(n, LANES)))


def test_a_tile_is_transposed_in_place():
    @njit
    def turn(array):
        transpose(array, (LANES, 0))

    array = np.arange(3 * LANES * LANES, dtype=np.float32).reshape(3 * LANES, LANES)
    expected = array.copy()
    expected[LANES : 2 * LANES] = array[LANES : 2 * LANES].T
    turn(array)
    assert (array == expected).all()


def test_prefetch_changes_nothing():
    @njit
    def fetch(array):
        prefetch(array, (1, 2))
        prefetch(array, (1000, 0))  # no element of the array: a hint cannot fail

    array = A.reshape(4, 4).copy()
    fetch(array)
    assert (array == A.reshape(4, 4)).all()


@njit
def products(a, b, out):
    sums = zero_sums((0, 0))
    for pair in range(b.shape[1]):
        sums = add_products(sums, a, (1, 0), b, (0, 1), pair)
    for t, total in enumerate(sums):
        store(out, (t, 0), to_float(total))


def test_products_of_int16_are_added_in_pairs():
    rng = np.random.default_rng(2)
    a = rng.integers(-4000, 4000, (2, 6), dtype=np.int16)
    b = rng.integers(-500, 500, (2, LANES, 6), dtype=np.int16)  # two groups of labels
    pairs = np.ascontiguousarray(b.reshape(2, LANES, 3, 2).transpose(0, 2, 1, 3)).reshape(2, 3, 2 * LANES)
    out = np.empty((2, LANES), dtype=np.float32)
    products(a, pairs, out)
    assert (out == [b[0].astype(np.int64) @ a[1], b[1].astype(np.int64) @ a[0]]).all()


def test_products_of_the_largest_numbers_fit():
    out = np.empty((2, LANES), dtype=np.float32)
    b = np.full((2, 1, 2 * LANES), -32767, dtype=np.int16)
    products(np.full((2, 2), 32767, dtype=np.int16), b, out)
    assert (out == np.float32(-2 * 32767**2)).all()


def test_arrays_start_on_a_cache_line():
    for array in (aligned(3, 5), aligned(16), scratch(7)):
        assert array.ctypes.data % CACHE_LINE == 0
        assert array.dtype == np.float32
        assert not array.any()
    assert aligned(3, 5).shape == (3, 5)


def test_padded_size_is_a_multiple_of_the_lanes():
    assert [padded_size(n) for n in (0, 1, 16, 17)] == [0, 16, 16, 32]
