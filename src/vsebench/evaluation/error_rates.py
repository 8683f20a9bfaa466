"""Detection rate of the test over images and seeds on simulated comparisons with known differences."""

import numpy as np

from vsebench.evaluation.estimates import LEVEL, Estimate, Values, stack
from vsebench.evaluation.significance import bootstrap_all

N_IMAGES = 200
RESAMPLES = 400


def detection_rate(n_seeds: int, ratio: float, difference: float, comparisons: int) -> float:
    """Return the share of simulated comparisons in which the test finds a difference.

    Parameters
    ----------
    n_seeds : number of seeds of both methods
    ratio : standard deviation of the difference between seeds, divided by the standard error of one seed due to images
    difference : the true difference, divided by the same standard error
    comparisons : number of simulated comparisons
    """
    p_values = simulate(n_seeds, ratio, difference, comparisons).p_value()
    return float((p_values < LEVEL).mean())


def simulate(n_seeds: int, ratio: float, difference: float, comparisons: int) -> Estimate:
    """Return the estimates of simulated comparisons, (comparisons,), whose true value is `difference`.

    Half of the variance among images is common to all seeds, half is specific to a seed. All distributions are normal.
    """
    rng = np.random.default_rng([n_seeds, round(100 * ratio), round(100 * difference)])
    shared = rng.normal(0, np.sqrt(N_IMAGES / 2), (N_IMAGES, comparisons))
    tables: list[Values] = []
    for _ in range(n_seeds):
        own = rng.normal(0, np.sqrt(N_IMAGES / 2), (N_IMAGES, comparisons))
        tables.append(shared + own + difference + rng.normal(0, ratio, comparisons))
    return stack(tables, bootstrap_all(tables, RESAMPLES)).each()
