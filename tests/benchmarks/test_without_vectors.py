import numpy as np
import pytest

from benchmarks.data import simulate
from benchmarks.without_vectors import draw_triples, start, steps_with_vectors, steps_without_vectors


def test_both_loops_take_the_same_steps():
    train = simulate("iapr", 0.02)
    triples, rates = draw_triples(train)[:500], (np.float32(0.1), np.float32(0.001))
    ours, plain = start(train, 24), start(train, 24)
    assert steps_with_vectors(ours, triples, *rates) == pytest.approx(
        steps_without_vectors(plain, triples, *rates), rel=1e-4
    )
    for a, b in zip(ours, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
