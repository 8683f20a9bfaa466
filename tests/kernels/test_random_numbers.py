import numpy as np
import pytest

from tests.reference.random_numbers import SplitMix64
from vsebench.kernels.random_numbers import below, new_state, next_word, uniform

# The first words of the published generator from the state 1234567 (known from its reference implementation).
KNOWN = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]


def test_known_words():
    state = np.array([1234567], dtype=np.uint64)
    assert [int(next_word(state)) for _ in KNOWN] == KNOWN


def test_agrees_with_whole_number_arithmetic():
    state = new_state(7, 2)
    twin = SplitMix64(state[0])
    for _ in range(50):
        assert below(state, 1000) == twin.below(1000)
        assert uniform(state) == twin.uniform()


@pytest.mark.parametrize("n", [2, 7, 100])
def test_whole_numbers_are_uniform(n):
    state = new_state(1)
    counts = np.bincount([below(state, n) for _ in range(200 * n)], minlength=n)
    chi_square = ((counts - 200) ** 2 / 200).sum()
    assert chi_square < n - 1 + 5 * np.sqrt(2 * n)


def test_streams_differ():
    assert new_state(1, 1)[0] != new_state(1, 2)[0]
    assert new_state(1, 1)[0] != new_state(2, 1)[0]
