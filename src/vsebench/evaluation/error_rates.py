"""How often the test over images and seeds finds a difference, on simulated comparisons whose difference is known."""

import numpy as np

from vsebench.evaluation.estimates import LEVEL, Estimate, Values, stack
from vsebench.evaluation.significance import bootstrap_all

N_IMAGES = 200
RESAMPLES = 400


def found(n_seeds: int, ratio: float, difference: float, comparisons: int) -> float:
    """Return the share of simulated comparisons in which the test finds a difference.

    Parameters
    ----------
    n_seeds : number of seeds of both rows
    ratio : standard deviation of the difference over seeds, over the standard error that one seed has from its images
    difference : the true difference, in those standard errors
    comparisons : how many to simulate
    """
    p_values = simulate(n_seeds, ratio, difference, comparisons).p_value()
    return float((p_values < LEVEL).mean())


def simulate(n_seeds: int, ratio: float, difference: float, comparisons: int) -> Estimate:
    """Return estimates of made-up comparisons, (comparisons,), of mean `difference`.

    Half of the variance among images is the same for all seeds, and half is each seed's own. All is normal.
    """
    rng = np.random.default_rng([n_seeds, round(100 * ratio), round(100 * difference)])
    shared = rng.normal(0, np.sqrt(N_IMAGES / 2), (N_IMAGES, comparisons))
    tables: list[Values] = []
    for _ in range(n_seeds):
        own = rng.normal(0, np.sqrt(N_IMAGES / 2), (N_IMAGES, comparisons))
        tables.append(shared + own + difference + rng.normal(0, ratio, comparisons))
    return stack(tables, bootstrap_all(tables, RESAMPLES)).each()
