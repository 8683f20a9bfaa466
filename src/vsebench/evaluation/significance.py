"""Draw bootstrap resamples for means over images or labels, and correct p-values for multiple tests."""

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

BOOTSTRAP_SEED = 95
INTERVAL = (2.5, 97.5)  # in percent
BLOCK = 200  # resamples per block, at most
DRAWS_AT_ONCE = 400_000_000  # largest number of counts (float64) in a block
KEPT_DRAWS = 100_000_000  # bytes; draws up to this size are cached and reused for metrics with the same number of units

Values = NDArray[np.float64]
Test = TypeVar("Test", bound=Hashable)  # the key of a test


def draw_counts(n: int, resamples: int) -> Iterator[tuple[slice, Values]]:
    """Yield bootstrap resamples in blocks, as a slice and an array of counts for each block.

    A resample consists of n draws, with replacement, from n units. The slice says which of all resamples are in the
    block. The counts say how often each of these m resamples draws each unit, (m, n) float64. The draws depend only on
    `n` and `resamples`, so models with the same test images are compared on the same resamples.
    """
    size = max(1, min(BLOCK, DRAWS_AT_ONCE // max(n, 1)))
    starts = range(0, resamples, size)
    if n * resamples <= KEPT_DRAWS:
        kept = _kept_draws(n, resamples)
        blocks: Iterator[NDArray[np.uint8]] = (kept[start : start + size] for start in starts)
    else:
        draws = _draws(n, resamples)
        blocks = (np.stack(list(islice(draws, size))) for _ in starts)
    for start, block in zip(starts, blocks, strict=True):
        yield slice(start, start + len(block)), block.astype(float)


@lru_cache(maxsize=4)
def _kept_draws(n: int, resamples: int) -> NDArray[np.uint8]:
    """Return how often each resample draws each unit, as an array of shape (resamples, n).

    The array is cached, because drawing takes longer than computing most metrics.
    """
    return np.stack(list(_draws(n, resamples)))


def _draws(n: int, resamples: int) -> Iterator[NDArray[np.uint8]]:
    rng = np.random.Generator(np.random.PCG64([BOOTSTRAP_SEED, n]))
    for _ in range(resamples):
        counts = np.bincount(rng.integers(0, n, n), minlength=n)
        yield counts.clip(max=255).astype(np.uint8)  # counts above 255 have a probability below 1e-300


def bootstrap_all(tables: list[Values], resamples: int) -> list[Values]:
    """Return the column means of each table on bootstrap resamples of its rows.

    For each table, the result has shape (resamples, n_columns). The same rows are drawn for tables with the same number
    of rows.
    """
    means = [np.empty((resamples, table.shape[1])) for table in tables]
    for n in {len(table) for table in tables}:
        for block, counts in draw_counts(n, resamples):
            for table, mean in zip(tables, means, strict=True):
                if len(table) == n:
                    mean[block] = counts @ table / n
    return means


def adjust(p_values: Mapping[Test, float]) -> dict[Test, float]:
    """Return p-values after the step-up correction of Benjamini and Hochberg (J. R. Stat. Soc. B 57, 1995).

    Among the tests with a corrected p-value below 0.05, the expected share of tests without an effect is at most 5 %.
    If no test has an effect, all corrected p-values are above 0.05 with a probability of at least 95 %.
    """
    adjusted = {}
    smallest = 1.0
    falling = sorted(p_values, key=p_values.__getitem__, reverse=True)
    for index, test in enumerate(falling):
        smallest = min(smallest, p_values[test] * len(p_values) / (len(p_values) - index))
        adjusted[test] = smallest
    return adjusted
