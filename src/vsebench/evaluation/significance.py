"""Bootstrap intervals, paired tests and Holm's correction. The units drawn are images or, for some metrics, labels."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BOOTSTRAP_SEED = 95
INTERVAL = (2.5, 97.5)  # percent

Values = NDArray[np.float64]


def draw_counts(n: int, resamples: int) -> Iterator[NDArray[np.int64]]:
    """Yield, `resamples` times, how often each of n units is drawn in n draws with replacement, (n,) int64.

    The draws depend on these two numbers only, so two models on the same images are compared on the same resamples.
    """
    rng = np.random.Generator(np.random.PCG64([BOOTSTRAP_SEED, n]))
    for _ in range(resamples):
        yield np.bincount(rng.integers(0, n, n), minlength=n)


def bootstrap_means(values: Values, resamples: int) -> Values:
    """Return the column means of `resamples` samples of rows with replacement, (resamples, n_columns)."""
    return bootstrap_all([values], resamples)[0]


def bootstrap_all(tables: list[Values], resamples: int) -> list[Values]:
    """Return `bootstrap_means` of several tables, drawing once for all that have the same number of rows."""
    means = [np.empty((resamples, table.shape[1])) for table in tables]
    for n in {len(table) for table in tables}:
        same = [(table, mean) for table, mean in zip(tables, means, strict=True) if len(table) == n]
        for b, counts in enumerate(draw_counts(n, resamples)):
            for table, mean in same:
                mean[b] = counts @ table
        for _, mean in same:
            mean /= n
    return means


def over_seeds(by_seed: Values) -> Values:
    """Draw seeds as well: (seeds, resamples, n_columns) bootstrap means of each seed become (resamples, n_columns)."""
    seeds, resamples = by_seed.shape[:2]
    rng = np.random.Generator(np.random.PCG64([BOOTSTRAP_SEED, seeds]))
    drawn = rng.integers(0, seeds, (resamples, seeds))
    means: Values = by_seed[drawn, np.arange(resamples)[:, np.newaxis]].mean(axis=1)
    return means


def resample(seeds: list[Values], resamples: int) -> Values:
    """Return bootstrap means over images and seeds, (resamples, n_columns)."""
    return over_seeds(np.stack(bootstrap_all(seeds, resamples)))


def p_value(differences: Values) -> float:
    """Return the two-sided bootstrap p-value of no difference; never 0, since no finite sample shows that."""
    n = len(differences)
    tail = min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0))
    return min(1.0, 2 * (tail + 1) / (n + 1))


def holm(p_values: dict[str, float]) -> dict[str, float]:
    """Return p-values after Holm's step-down correction (Scandinavian Journal of Statistics 6, 1979)."""
    adjusted = {}
    largest = 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[name]))
        adjusted[name] = largest
    return adjusted
