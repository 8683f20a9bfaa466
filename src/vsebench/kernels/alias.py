"""The alias method, which draws from a table of probabilities in a time that does not grow with the table's size.

Source: Walker, "An efficient method for generating discrete random variables with general distributions", ACM TOMS 3,
1977, with the construction of Vose, IEEE TSE 17, 1991.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.random_numbers import below, uniform


class AliasTable(NamedTuple):
    """A distribution over the numbers 0 to n - 1.

    To draw from it, a number is drawn uniformly, and is then either kept or replaced by another number, its alias.

    Attributes
    ----------
    kept : (n,) float64, the probability that each number is kept
    alias : (n,) int32, the alias of each number
    """

    kept: NDArray[np.float64]
    alias: NDArray[np.int32]

    @classmethod
    def of(cls, weights: NDArray[np.float64]) -> "AliasTable":
        """Return the table in which each number has a probability proportional to its weight.

        The weights, (n,), are at least 0 and not all 0. The time is proportional to n.
        """
        kept = weights * (len(weights) / weights.sum())
        alias = np.arange(len(weights), dtype=np.int32)
        fill_aliases(kept, alias)
        return cls(kept, alias)


@njit(cache=True)
def fill_aliases(kept, alias):
    """Give each number with a weight below 1 an alias with a weight of at least 1, and reduce the weight of the alias.

    kept : (n,) float64, weights with a mean of 1; overwritten with probabilities
    alias : (n,) int32, initially 0 to n - 1; the aliases are written into it
    """
    below_mean, above_mean = np.empty(len(kept), dtype=np.int32), np.empty(len(kept), dtype=np.int32)
    n_below, n_above = 0, 0
    for number in range(len(kept)):
        if kept[number] < 1:
            below_mean[n_below] = number
            n_below += 1
        else:
            above_mean[n_above] = number
            n_above += 1
    while n_below > 0 and n_above > 0:
        n_below -= 1
        small, large = below_mean[n_below], above_mean[n_above - 1]
        alias[small] = large
        kept[large] -= 1 - kept[small]
        if kept[large] < 1:
            n_above -= 1
            below_mean[n_below] = large
            n_below += 1
    for slot in range(n_below):  # rounding errors can leave some numbers without an alias
        kept[below_mean[slot]] = 1


@njit(cache=True, inline="always")
def draw_alias(table, rng):
    """Draw a number from an `AliasTable`, and advance the state `rng`, (1,) uint64."""
    number = below(rng, len(table.kept))
    return number if uniform(rng) < table.kept[number] else np.int64(table.alias[number])
