import numpy as np
import pytest
from numba import njit

from tests.reference.arrays import embedding_of
from vsebench.kernels.products import dot, margin, rounded_products
from vsebench.kernels.ranking.rounding import round_labels, round_rows
from vsebench.kernels.vectors import LANES, store, to_float


@pytest.mark.parametrize("n_factors", [1, 16, 40])
def test_scores_and_margins(n_factors):
    rng = np.random.default_rng(n_factors)
    images, labels = rng.normal(size=(2, 5, n_factors))
    embedding = embedding_of(images, labels)
    assert dot(embedding.images, 1, embedding.labels, 3) == pytest.approx(images[1] @ labels[3], rel=1e-5, abs=1e-5)
    expected = images[1] @ (labels[3] - labels[4])
    assert margin(embedding, 1, 3, 4) == pytest.approx(expected, rel=1e-5, abs=1e-5)


@njit
def four_products(vectors, pairs, out):
    for t, sums in enumerate(rounded_products(vectors, (2, 0, 2, 1), pairs, (0, 0, 1, 1))):
        store(out, (t, 0), to_float(sums))


def test_rounded_products_of_several_rows_and_groups():
    rng = np.random.default_rng(1)
    images, labels = rng.normal(size=(3, 6)).astype(np.float32), rng.normal(size=(20, 6)).astype(np.float32)
    rounded, rounded_labels = round_rows(images, 3)[0], round_rows(labels, 20)[0]
    out = np.empty((4, LANES), dtype=np.float32)
    four_products(rounded, round_labels(labels).pairs, out)
    exact = np.zeros((3, 32))
    exact[:, :20] = rounded.astype(np.int64) @ rounded_labels.T.astype(np.int64)
    expected = [exact[2, :16], exact[0, :16], exact[2, 16:], exact[1, 16:]]
    np.testing.assert_allclose(out, expected, rtol=1e-7)
