"""Detection rate of the test over images and seeds on simulated tasks with known differences."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from vsebench.evaluation.estimates import LEVEL, Estimate, Estimates, Values, stack
from vsebench.evaluation.significance import bootstrap_all

# How the variance among images divides: half is common to all seeds, all is specific to a seed, or all is common.
# `heavy tails`: half, and the noise of images and seeds has Student's distribution with 2.5 degrees of freedom.
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
    ratio : standard deviation of the difference over seeds, divided by the standard error due to images of one seed
    difference : the true difference, divided by the same standard error
    tasks : number of simulated tasks, with `N_METHODS` methods each
    noise : the distribution of the noise
    """
    return share_found(simulate(n_seeds, ratio, difference, tasks, noise))


def share_found(estimates: Iterable[Estimate]) -> float:
    """Return the share of estimates whose interval excludes 0."""
    return float(np.mean([abs(float(each.value.item())) > float(each.half_width(LEVEL).item()) for each in estimates]))


def simulate(n_seeds: int, ratio: float, difference: float, tasks: int, noise: Noise) -> Iterator[Estimate]:
    """Yield the estimated difference of the first two methods of each simulated task; its true value is `difference`.

    The other methods are as good as the second one.
    """
    rng = np.random.default_rng([n_seeds, round(100 * ratio), round(100 * difference), NOISES.index(noise)])
    for start in range(0, tasks, TASKS_AT_ONCE):
        draws = Draws(rng, noise, min(TASKS_AT_ONCE, tasks - start), difference)
        for of_task in draws.tasks(draws.images(), draws.seeds(n_seeds, ratio)):
            yield of_task.minus(1, [0])


@dataclass(frozen=True)
class Pooling:
    """How the tasks of a pooled effect are related, and whether all methods help to estimate the spread of seeds."""

    n_tasks: int
    same_images: bool = False  # whether the tasks share images, and so their noise
    helped: bool = True


def pooled(
    n_seeds: int, ratio: float, difference: float, groups: int, noise: Noise, pooling: Pooling
) -> Iterator[Estimate]:
    """Yield the mean difference of the first two methods over each of `groups` groups of tasks, as `simulate` does."""
    settings = [n_seeds, round(100 * ratio), round(100 * difference), NOISES.index(noise)]
    rng = np.random.default_rng([*settings, pooling.n_tasks, pooling.same_images])
    for start in range(0, groups, TASKS_AT_ONCE):
        draws = Draws(rng, noise, min(TASKS_AT_ONCE, groups - start), difference)
        images, seeds = draws.images(), draws.seeds(n_seeds, ratio)
        of_groups = []
        for _ in range(pooling.n_tasks):
            of_groups.append(draws.tasks(images, seeds))
            if not pooling.same_images:
                images, seeds = draws.images(), draws.seeds(n_seeds, ratio)
        for group in zip(*of_groups, strict=True):
            pairs = [replace(part, by_seed=part.by_seed[:, :2], samples=part.samples[:, :, :2]) for part in group]
            pairs = pairs if pooling.helped else [replace(pair, peers={}) for pair in pairs]
            yield Estimates.side_by_side(pairs).of(lambda values: (values[:, ::2] - values[:, 1::2]).mean(axis=1))


@dataclass(frozen=True)
class Draws:
    """Random values of the images of `tasks` tasks at once, (N_IMAGES, tasks * N_METHODS), method by method."""

    rng: np.random.Generator
    noise: Noise
    n_tasks: int
    difference: float  # of the first method of each task from the others

    def images(self) -> Values:
        """Return the part of the values that is common to all seeds."""
        values = self._draw(self._deviation(COMMON[self.noise]), N_IMAGES, self._columns)
        values[:, ::N_METHODS] += self.difference
        return values

    def seeds(self, n_seeds: int, ratio: float) -> list[Values]:
        """Return the deviation of the methods' means for each seed, (tasks * N_METHODS,) each."""
        return [self._draw(ratio / np.sqrt(2), self._columns) for _ in range(n_seeds)]

    def tasks(self, images: Values, seeds: Sequence[Values]) -> Iterator[Estimates]:
        """Yield the estimated means of the methods of each task; noise specific to a seed is added."""
        specific = self._deviation(1 - COMMON[self.noise])
        tables = [images + self._draw(specific, *images.shape) + seed for seed in seeds]
        together = stack(tables, bootstrap_all(tables, RESAMPLES))
        for first in range(0, self._columns, N_METHODS):
            methods = slice(first, first + N_METHODS)
            by_seed = together.by_seed[:, methods]
            yield Estimates(by_seed, together.samples[:, :, methods], N_IMAGES, dict(enumerate(by_seed.T)))

    @property
    def _columns(self) -> int:
        return self.n_tasks * N_METHODS

    def _deviation(self, share: float) -> float:
        """Return the standard deviation of a share of the variance; the variance of a difference is doubled."""
        return float(np.sqrt(N_IMAGES / 2 * share))

    def _draw(self, deviation: float, *shape: int) -> Values:
        if self.noise == "heavy tails":
            return np.asarray(self.rng.standard_t(TAILS, shape) * deviation / np.sqrt(TAILS / (TAILS - 2)))
        return self.rng.normal(0, deviation, shape)
