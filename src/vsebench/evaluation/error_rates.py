"""Simulate how often the test of `estimates.py` detects a known difference between two methods."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from vsebench.evaluation.estimates import LEVEL, Estimates, Interval, Values, mean_of_independent, stack
from vsebench.evaluation.significance import bootstrap_all

# The share of the variance among images that is common to all seeds. The rest is specific to a seed. The share is 1/2
# for `half`, 0 for `specific` and 1 for `common`. For `heavy tails`, it is also 1/2, and the noise of images and seeds
# has Student's distribution with 2.5 degrees of freedom.
Noise = Literal["half", "specific", "common", "heavy tails"]
NOISES: tuple[Noise, ...] = get_args(Noise)
COMMON = {"half": 0.5, "specific": 0.0, "common": 1.0, "heavy tails": 0.5}
TAILS = 2.5

N_IMAGES = 200
N_METHODS = 6
RESAMPLES = 400
AT_ONCE = 100


@dataclass(frozen=True)
class Simulation:
    """A simulation of groups of tasks, in which a test compares two methods.

    Each task has `N_METHODS` methods. The first two are compared. All methods but the first are equally good. The
    effect of a group is the difference between the two methods, averaged over the tasks of the group.

    Parameters
    ----------
    n_seeds : number of seeds of each method
    ratios : the ratios to simulate; the random draws are the same for all ratios. A ratio states how much the
        difference between the two methods varies. It is the standard deviation of the difference between seeds, divided
        by the standard error of the difference over images for one seed
    difference : the true difference between the two methods on each task. The unit is the standard error of the
        difference over images for one seed
    noise : the distribution of the noise
    n_tasks : the group sizes to simulate; a smaller group consists of the first tasks of the largest group
    same_images : whether all tasks of a group have the same images. If so, these tasks also share the deviations of
        seeds, and the part of the noise of images that is common to all seeds
    others : standard deviation between seeds of the methods that are not compared, divided by that of the two compared
        methods
    """

    n_seeds: int
    ratios: tuple[float, ...]
    difference: float = 0.0
    noise: Noise = "half"
    n_tasks: tuple[int, ...] = (1,)
    same_images: bool = False
    others: float = 1.0

    def share_found(self, groups: int, helped: bool = True) -> Values:
        """Return the share of groups in which the test finds a difference.

        The result has a row for each of the `ratios`, and a column for each of the group sizes `n_tasks`.

        Parameters
        ----------
        groups : number of simulated groups
        helped : whether the other methods help to estimate the variance between seeds
        """
        found = np.zeros((len(self.ratios), len(self.n_tasks)))
        for batch in self.batches(groups):
            for row, ratio in enumerate(self.ratios):
                parts = [task.at(ratio, helped) for task in batch]
                effects = [mean_difference(parts[:n], self.same_images) for n in self.n_tasks]
                found[row] += [np.sum(np.abs(each.value) > each.half_width(LEVEL)) for each in effects]
        return found / groups

    def batches(self, groups: int) -> Iterator[list["Drawn"]]:
        """Yield the simulated tasks of up to `AT_ONCE` groups at once.

        Item n of a yielded list contains task n of each of these groups.
        """
        settings = [self.n_seeds, round(100 * self.difference), NOISES.index(self.noise), self.same_images]
        rng = np.random.default_rng(settings)
        for start in range(0, groups, AT_ONCE):
            draws = Draws(rng, self.noise, min(AT_ONCE, groups - start))
            batch: list[Drawn] = []
            while len(batch) < max(self.n_tasks):
                if not batch or not self.same_images:
                    images, seeds = draws.images(self.difference), draws.seeds(self.n_seeds, self.others)
                batch.append(draws.task(images, seeds))
            yield batch


@dataclass(frozen=True)
class Drawn:
    """One simulated task for each of several groups.

    `still` contains the estimates before the variation between seeds is added. Its quantities are the means of the
    first two methods: the two means in the first group, then the two means in the second group, and so on. Each item of
    `still.peers` contains the means of one method, (n_seeds, groups).
    """

    still: Estimates
    seeds: Values  # (n_seeds, groups, N_METHODS), the variation between seeds, as `Draws.seeds` returns it

    def at(self, ratio: float, helped: bool = True) -> Estimates:
        """Return the estimates for one of the `ratios` of `Simulation`.

        The deviation of a method for a seed is added to the method's mean for this seed, and to all resamples of this
        mean. If `helped` is false, the variances of the other methods are not used.
        """
        deviations = ratio / np.sqrt(2) * self.seeds
        of_pairs = deviations[:, :, :2].reshape(len(deviations), -1)
        peers = {n: values + deviations[:, :, n] for n, values in self.still.peers.items()} if helped else {}
        samples = self.still.samples + of_pairs[:, np.newaxis]
        return Estimates(self.still.by_seed + of_pairs, samples, self.still.n_units, peers)


def mean_difference(parts: Sequence[Estimates], same_images: bool) -> Interval:
    """Return the difference between the two methods in each group, averaged over the tasks of the group.

    The values of the result have shape (groups,).

    Parameters
    ----------
    parts : the estimates of each task of the groups, as `Drawn.at` returns them
    same_images : as in `Simulation`
    """

    def difference(values: Values) -> Values:
        of_methods = values.reshape(len(values), -1, n_groups, 2)
        return np.asarray((of_methods[..., 0] - of_methods[..., 1]).mean(axis=1))

    n_groups = parts[0].by_seed.shape[1] // 2
    if same_images:
        return Estimates.side_by_side(parts).of(difference)
    return mean_of_independent([part.of(difference) for part in parts], [1 / len(parts)] * len(parts))


@dataclass(frozen=True)
class Draws:
    """A source of random values for one task in each of `groups` groups."""

    rng: np.random.Generator
    noise: Noise
    groups: int

    def images(self, difference: float) -> Values:
        """Draw the part of the images' values that is common to all seeds.

        The result has shape (N_IMAGES, groups, N_METHODS). Its expected value is `difference` for the first method, and
        0 for the other methods.
        """
        values = self._draw(self._deviation(COMMON[self.noise]), N_IMAGES, self.groups, N_METHODS)
        values[:, :, 0] += difference
        return values

    def seeds(self, n_seeds: int, others: float) -> Values:
        """Draw a deviation of each method's mean for each seed.

        The result has shape (n_seeds, groups, N_METHODS). The standard deviation is 1 for the first two methods, and
        `others` for the remaining methods.
        """
        values = self._draw(1.0, n_seeds, self.groups, N_METHODS)
        values[:, :, 2:] *= others
        return values

    def task(self, images: Values, seeds: Values) -> Drawn:
        """Draw the noise of images that is specific to each seed, and return one task in each group.

        `images` and `seeds` are results of the methods with these names.
        """
        specific = self._deviation(1 - COMMON[self.noise])
        tables = [images + self._draw(specific, *images.shape) for _ in seeds]
        pairs = [table[:, :, :2].reshape(N_IMAGES, -1) for table in tables]
        by_seed = np.stack([table.mean(axis=0) for table in tables])
        peers: dict[Hashable, Values] = {n: by_seed[:, :, n] for n in range(N_METHODS)}
        return Drawn(replace(stack(pairs, bootstrap_all(pairs, RESAMPLES)), peers=peers), seeds)

    def _deviation(self, share: float) -> float:
        """Return the standard deviation of noise that makes up a share of the variance among images.

        The variance among images is such that, for one seed, the difference between the means of two methods has the
        variance 1.
        """
        return float(np.sqrt(N_IMAGES / 2 * share))

    def _draw(self, deviation: float, *shape: int) -> Values:
        if not deviation:
            return np.zeros(shape)
        if self.noise == "heavy tails":
            return np.asarray(self.rng.standard_t(TAILS, shape) * deviation / np.sqrt(TAILS / (TAILS - 2)))
        return self.rng.normal(0, deviation, shape)
