"""Detection rate of the test over images and seeds on simulated tasks with known differences."""

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np

from vsebench.evaluation.estimates import LEVEL, Estimate, Estimates, Values, stack
from vsebench.evaluation.significance import bootstrap_all

# The variance among images: half of it common to all seeds, all of it specific to a seed, or all of it common. `heavy
# tails`: half, and the noise of images and seeds has Student's distribution with 2.5 degrees of freedom.
Noise = Literal["half", "specific", "common", "heavy tails"]
NOISES: tuple[Noise, ...] = get_args(Noise)
COMMON = {"half": 0.5, "specific": 0.0, "common": 1.0, "heavy tails": 0.5}
TAILS = 2.5

N_IMAGES = 200
N_METHODS = 6
RESAMPLES = 400
TASKS_AT_ONCE = 200


def detection_rate(n_seeds: int, ratio: float, difference: float, tasks: int, noise: Noise = "half") -> float:
    """Return the share of simulated tasks on which the test finds a difference of two methods.

    Parameters
    ----------
    n_seeds : number of seeds of all methods
    ratio : standard deviation of the difference between seeds, divided by the standard error of one seed due to images
    difference : the true difference, divided by the same standard error
    tasks : number of simulated tasks, with `N_METHODS` methods each
    noise : the distribution of the noise
    """
    found = [
        abs(float(estimate.value[0])) > float(estimate.half_width(LEVEL)[0])
        for estimate in simulate(n_seeds, ratio, difference, tasks, noise)
    ]
    return float(np.mean(found))


def simulate(n_seeds: int, ratio: float, difference: float, tasks: int, noise: Noise) -> Iterator[Estimate]:
    """Yield the estimated difference of the first two methods of each simulated task; its true value is `difference`.

    The other methods are as good as the second one.
    """
    rng = np.random.default_rng([n_seeds, round(100 * ratio), round(100 * difference), NOISES.index(noise)])

    def draw(deviation: float, *shape: int) -> Values:
        if noise == "heavy tails":
            return np.asarray(rng.standard_t(TAILS, shape) * deviation / np.sqrt(TAILS / (TAILS - 2)))
        return rng.normal(0, deviation, shape)

    # A difference of two methods has twice the variance of each.
    common, specific = (np.sqrt(N_IMAGES / 2 * share) for share in (COMMON[noise], 1 - COMMON[noise]))
    for start in range(0, tasks, TASKS_AT_ONCE):
        columns = N_METHODS * min(TASKS_AT_ONCE, tasks - start)
        of_all_seeds = draw(common, N_IMAGES, columns)
        of_all_seeds[:, ::N_METHODS] += difference
        tables = [
            of_all_seeds + draw(specific, N_IMAGES, columns) + draw(ratio / np.sqrt(2), columns) for _ in range(n_seeds)
        ]
        together = stack(tables, bootstrap_all(tables, RESAMPLES))
        for first in range(0, columns, N_METHODS):
            methods = slice(first, first + N_METHODS)
            by_seed = together.by_seed[:, methods]
            yield Estimates(by_seed, together.samples[:, :, methods], N_IMAGES, by_seed).minus(1, [0])
