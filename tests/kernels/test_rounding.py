"""Products of vectors rounded to integers, and the bound on their error."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vsebench.kernels.ranking.rounding import round_labels, round_rows, update_label


@given(
    seed=st.integers(0, 10**6),
    n_factors=st.integers(1, 200),
    n=st.integers(1, 20),
    odd=st.booleans(),
    sizes=st.tuples(st.integers(-40, 15), st.integers(-40, 15)),
)
def test_products_of_rounded_vectors_are_within_the_bound(seed, n_factors, n, odd, sizes):
    rng = np.random.default_rng(seed)
    images, labels = (
        (rng.standard_normal((n, n_factors)) ** (3 if odd else 1) * 10.0**size).astype(np.float32) for size in sizes
    )
    rounded_images, image_scales = round_rows(images, n)
    rounded_labels, label_scales = round_rows(labels, n)
    products = rounded_images.astype(np.int64) @ rounded_labels.T.astype(np.int64)
    with np.errstate(under="ignore"):
        scores = (images @ labels.T).astype(np.float64)
    exact = scores * image_scales.astype(np.float64)[:, None] * label_scales.astype(np.float64)
    assert np.abs(products).max() < 2**31
    assert (np.abs(exact - products) <= round_labels(labels).bound).all()


def test_labels_that_fill_up_a_group_count_for_nothing():
    labels = round_labels(np.ones((17, 3), dtype=np.float32))
    assert labels.vectors.shape == (32, 16)
    assert labels.pairs.shape == (2, 2, 32)
    assert np.isfinite(labels.scales[:17]).all()
    assert np.isnan(labels.scales[17:]).all()


def test_the_bound_is_as_low_as_it_can_be():
    """Where all numbers of two vectors are the same, all are rounded in the same direction."""
    shares = []
    for n_factors in range(1, 300):
        ones = np.ones((1, n_factors), dtype=np.float32)
        rounded, _ = round_rows(ones, 1)
        exact, product = 32767**2, int((rounded.astype(np.int64) ** 2).sum())
        shares.append(abs(exact - product) / round_labels(ones).bound)
    assert 0.9 < max(shares) < 1


def test_a_changed_label_is_rounded_again_in_its_place():
    rng = np.random.default_rng(3)
    labels = rng.standard_normal((20, 16), dtype=np.float32)
    ours = round_labels(labels)
    labels[17] *= rng.uniform(-2, 2, 16).astype(np.float32)
    update_label(ours, labels, 17, np.empty(16, dtype=np.int16))
    expected = round_labels(labels)
    assert (ours.pairs == expected.pairs).all()
    assert np.array_equal(ours.scales, expected.scales, equal_nan=True)
