"""Random numbers inside kernels, from the generator SplitMix64.

The caller keeps the state of the generator, which is one 64-bit word.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

U64 = np.uint64
INCREMENT = U64(0x9E3779B97F4A7C15)


def new_state(seed: int, *stream: int) -> NDArray[np.uint64]:
    """Return the initial state, (1,) uint64, of a stream of random numbers.

    A seed and the numbers `stream` identify the stream. Streams with different seeds or numbers are independent.
    """
    return np.random.SeedSequence([seed, *stream]).generate_state(1, dtype=np.uint64).astype(np.uint64)


@njit(cache=True, inline="always")
def mix(word):
    """Mix the 64 bits of a word, and return the result, uint64."""
    word = (word ^ (word >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> U64(27))) * U64(0x94D049BB133111EB)
    return word ^ (word >> U64(31))


@njit(cache=True, inline="always")
def next_word(state):
    """Return 64 random bits, uint64, and advance the state, (1,) uint64."""
    state[0] += INCREMENT
    return mix(state[0])


@njit(cache=True, inline="always")
def below(state, n):
    """Return a random integer from 0 to n - 1, and advance the state, (1,) uint64.

    The probability of each integer differs from 1 / n by at most 2^-32.
    """
    return np.int64(((next_word(state) >> U64(32)) * U64(n)) >> U64(32))


@njit(cache=True, inline="always")
def uniform(state):
    """Return a random float64, uniform in [0, 1), and advance the state, (1,) uint64."""
    return np.float64(next_word(state) >> U64(11)) * 2.0**-53
