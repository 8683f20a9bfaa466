"""Random numbers inside kernels, from the generator SplitMix64; the caller keeps the state, one 64-bit word.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

U64 = np.uint64
INCREMENT = U64(0x9E3779B97F4A7C15)


def new_state(seed: int, *stream: int) -> NDArray[np.uint64]:
    """Return the initial state, (1,) uint64, of the stream of random numbers with a seed and the numbers `stream`.

    Streams with different numbers are independent.
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
    """Return an integer from 0 to n - 1, each with probability 1 / n up to an error of 2^-32; advance the state."""
    return np.int64(((next_word(state) >> U64(32)) * U64(n)) >> U64(32))


@njit(cache=True, inline="always")
def uniform(state):
    """Return a float64, uniform in [0, 1); advance the state, (1,) uint64."""
    return np.float64(next_word(state) >> U64(11)) * 2.0**-53
