"""Intervals and tests for metrics over test images and seeds, where both the images and the seeds are samples.

A mean over seeds has up to three sources of variance:

- the images, whose variance is estimated from bootstrap resamples
- the seeds, whose variance is estimated from the spread between seeds, with the help of the other methods on the task
  (`seed_variance.py`)
- the choice of settings, if one search chose the settings for all seeds (`spread.py`)

The half-width of an interval at the confidence level 1 - a is

    sqrt(max(t(n - 1)^2 V_images, t(n - 1)^2 V_common + t(f)^2 V_seeds) + t(n - 1)^2 V_choice),

where

    t(k)      the 1 - a / 2 quantile of Student's distribution with k degrees of freedom
    n         the number of images
    V_images  the variance of the mean over seeds when images are resampled
    V_common  the part of V_images that is common to all seeds
    V_seeds   the variance between S seeds, divided by S
    f         the degrees of freedom of V_seeds; they are S - 1 without the help of other methods
    V_choice  the variance due to the choice of settings, which more seeds do not reduce; 0 if it was not measured, and
              infinite if it is unknown for this metric

V_seeds already contains the part of V_images that is not common to all seeds. Therefore V_common, not V_images, is
added to V_seeds. Without the help of other methods, the interval has at least its nominal coverage, whatever the
variances are (Banerjee, Sankhya 22, 1960). The p-value is the smallest value of a for which the interval excludes the
tested value.

A mean of several independent values, such as effects on different corpora, has an interval whose half-width is the
root of the sum of the squares of the values' half-widths, each multiplied by the value's weight. This interval, too,
has at least its nominal coverage if those of the values have it, whatever the variances and their degrees of freedom
are (Banerjee).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import stdtrit  # importing scipy.stats takes a second longer

from vsebench.evaluation.seed_variance import ALONE, Typical, moderated, typical

Values = NDArray[np.float64]

LEVEL = 0.05
SMALLEST_P = 1e-15
HALVINGS = 50  # number of halvings of the interval from log(SMALLEST_P) to 0, which contains a p-value's logarithm


@dataclass(frozen=True)
class Estimates:
    """Quantities, such as the metrics of methods, for each seed and for each bootstrap resample of the test images.

    A resample draws the same images for all quantities, and for all seeds with the same number of images.
    """

    by_seed: Values  # (n_seeds, n_quantities)
    samples: Values  # (n_seeds, resamples, n_quantities)
    n_units: int  # the number of images (or of labels, for means over labels) per seed
    # Maps each method on the task to its metric for each seed, (n_seeds,). For several tasks, the metrics have shape
    # (n_seeds, n_tasks). Methods whose metric is not known are left out.
    peers: Mapping[Hashable, Values] = field(default_factory=dict)
    # Deviations due to the choice of settings, (n_searches, n_quantities), as `spread.deviations` returns them. A row
    # states by how much one standard deviation of a search changes each quantity, or is infinite if this is not known.
    # None if settings were chosen for each seed separately, or if nothing was measured.
    choices: Values | None = None

    @property
    def means(self) -> Values:
        """The mean of each quantity over all seeds, (n_quantities,)."""
        return np.asarray(self.by_seed.mean(axis=0))

    @classmethod
    def side_by_side(cls, parts: Sequence["Estimates"]) -> "Estimates":
        """Join the estimates of several tasks.

        The result has the quantities of all tasks, and those `peers` that all tasks have in common. Seeds are paired by
        their position. If a task has more seeds than another one, the last seeds of the former are left out.
        """
        n_seeds = min(len(part.by_seed) for part in parts)
        by_seed = np.concatenate([part.by_seed[:n_seeds] for part in parts], axis=1)
        samples = np.concatenate([part.samples[:n_seeds] for part in parts], axis=2)
        shared = [name for name in parts[0].peers if all(name in part.peers for part in parts)]
        peers = {name: np.column_stack([part.peers[name][:n_seeds] for part in parts]) for name in shared}
        choices = block_diag(*(part.deviations for part in parts))
        return cls(by_seed, samples, min(part.n_units for part in parts), peers, choices)

    @property
    def deviations(self) -> Values:
        """`choices`, or an array without rows if `choices` is None."""
        return np.zeros((0, self.by_seed.shape[1])) if self.choices is None else self.choices

    def each(self) -> "Estimate":
        """Return an estimate of each quantity; the values have shape (n_quantities,)."""
        peers = list(self.peers.values())
        of_task = typical_of(np.column_stack(peers), len(peers) + 1) if peers else ALONE
        choice = np.sum(self.deviations**2, axis=0)
        return estimate(
            self.means, self.by_seed, self.samples, self.samples.mean(axis=0), self.n_units, of_task, choice
        )

    def minus(self, n: int, others: Sequence[int]) -> "Estimate":
        """Subtract the quantity `n` from each of the quantities `others`, and return estimates of the differences.

        The values of the result have shape (n_others,).
        """
        by_seed = self.by_seed[:, others] - self.by_seed[:, [n]]
        samples = self.samples[:, :, others] - self.samples[:, :, [n]]
        of_mean, means = samples.mean(axis=0), by_seed.mean(axis=0)
        with np.errstate(invalid="ignore"):
            choice = np.sum((self.deviations[:, others] - self.deviations[:, [n]]) ** 2, axis=0)
        # The difference of two infinite numbers is NaN; that of a quantity from itself is known.
        choice = np.where(np.asarray(others) == n, 0.0, np.where(np.isnan(choice), np.inf, choice))
        return estimate(means, by_seed, samples, of_mean, self.n_units, self.typical_difference, choice)

    @cached_property
    def typical_difference(self) -> Typical:
        """The variance between seeds that the difference between two methods on the task typically has."""
        return self._typical(lambda pair: pair[:, 0] - pair[:, 1])

    def _typical(self, statistic: Callable[[Values], Values]) -> Typical:
        """Return the variance between seeds that a statistic of two methods on the task typically has."""
        # The quantities of two methods alternate, task by task.
        pairs = (np.stack(pair, axis=-1) for pair in combinations(self.peers.values(), 2))
        of_pairs = [statistic(pair.reshape(len(pair), -1)) for pair in pairs]
        return typical_of(np.stack(of_pairs, axis=1), len(self.peers)) if of_pairs else ALONE

    def of(self, statistic: Callable[[Values], Values]) -> "Estimate":
        """Return an estimate of a function of the quantities' means over seeds.

        `statistic` is this function. It maps arrays of shape (m, n_quantities) to arrays of shape (m, ...). If there
        are `peers`, the quantities have to be those of two methods, on one task or on several tasks side by side.
        """
        of_samples = [statistic(samples) for samples in self.samples]
        value = statistic(self.means[np.newaxis])[0]
        return estimate(
            value,
            statistic(self.by_seed),
            np.stack(of_samples),
            statistic(self.samples.mean(axis=0)),
            self.n_units,
            self._typical(statistic),
            self._choice_variance(statistic, value),
        )

    def _choice_variance(self, statistic: Callable[[Values], Values], value: Values) -> Values:
        """Return the variance of a statistic that is due to the choice of settings.

        `value` is the statistic without deviations, and the result has the same shape. The variance is infinite if the
        statistic depends on a quantity whose deviation is not known.
        """
        if not len(self.deviations):
            return np.zeros_like(value)
        unknown = np.isinf(self.deviations)
        # In place of an unknown deviation, any step shows whether the statistic depends on the quantity. The steps
        # differ, so that a ratio of two quantities with unknown deviations changes too.
        steps = np.where(self.means == 0, 1.0, self.means) * (1 + np.arange(len(self.means)))
        changes = (statistic(self.means + np.where(unknown, steps, self.deviations)) - value) ** 2
        is_unknown = unknown.any(axis=1).reshape(-1, *(1,) * value.ndim)
        return np.asarray(np.where(is_unknown & (changes > 0), np.inf, changes).sum(axis=0))


class Interval(ABC):
    """Values with intervals that are symmetric about the values."""

    value: Values  # the estimated values over all seeds

    @abstractmethod
    def half_width(self, level: float | Values = LEVEL) -> Values:
        """Return the half-width of each value's interval at the confidence level 1 - `level`."""

    def interval(self) -> tuple[Values, Values]:
        """Return the lower and the upper ends of the values' 95 % intervals."""
        half = self.half_width()
        return self.value - half, self.value + half

    def p_value(self, bound: float = 0.0) -> Values:
        """Return the two-sided p-value of each value, for the hypothesis that it equals `bound`.

        No p-value is smaller than `SMALLEST_P`.
        """
        distance = np.abs(self.value - bound)
        low = np.full(distance.shape, np.log(SMALLEST_P))
        high = np.zeros(distance.shape)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            outside = distance > self.half_width(np.exp(middle))
            low, high = np.where(outside, low, middle), np.where(outside, middle, high)
        return np.where(distance > self.half_width(1.0), np.exp(high), 1.0)


@dataclass(frozen=True)
class Estimate(Interval):
    """Values and the components of their variance; all arrays have the same shape."""

    value: Values  # the estimated values over all seeds
    images: Values  # variance when images are resampled
    common: Values  # the part of `images` that is common to all seeds
    seeds: Values  # variance between seeds, divided by the number of seeds; 0 for a single seed
    choice: Values  # variance due to the choice of settings; 0 if it was not measured
    n_units: int  # number of images (or labels)
    freedom: float | Values  # degrees of freedom of `seeds`, an array if they differ; 0 for a single seed

    def half_width(self, level: float | Values = LEVEL) -> Values:
        tail = np.asarray(level) / 2
        of_images = stdtrit(max(self.n_units - 1, 1), tail) ** 2
        of_seeds = stdtrit(self.freedom, tail) ** 2 if np.any(self.freedom) else 0.0
        of_both = np.maximum(of_images * self.images, of_images * self.common + of_seeds * self.seeds)
        # At the level 1, `of_images` is 0, but an unknown variance stays infinite.
        is_unknown = np.isinf(self.choice)
        of_choice = np.where(is_unknown, np.inf, of_images * np.where(is_unknown, 0.0, self.choice))
        return np.asarray(np.sqrt(of_both + of_choice))


@dataclass(frozen=True)
class MeanOfIndependent(Interval):
    """A weighted mean of independent values; `mean_of_independent` creates it."""

    value: Values
    parts: Sequence[Interval]
    weights: Sequence[float]

    def half_width(self, level: float | Values = LEVEL) -> Values:
        halves = [weight * part.half_width(level) for weight, part in zip(self.weights, self.parts, strict=True)]
        return np.asarray(np.sqrt(sum(half**2 for half in halves)))


def mean_of_independent(parts: Sequence[Interval], weights: Sequence[float]) -> MeanOfIndependent:
    """Return the weighted mean of values that share no images, seeds or searches.

    `parts` contains the values, which all have the same shape, and `weights` a number for each part. The weights are
    positive and sum to 1.
    """
    value = sum(weight * part.value for weight, part in zip(weights, parts, strict=True))
    return MeanOfIndependent(np.asarray(value), parts, weights)


def estimate(
    value: Values,
    by_seed: Values,
    samples: Values,
    of_mean: Values,
    n_units: int,
    of_task: Typical,
    choice: Values,
) -> Estimate:
    """Return an estimate with the components of its variance.

    Parameters
    ----------
    value : (...), the values over all seeds
    by_seed : (n_seeds, ...), the values for each seed
    samples : (n_seeds, resamples, ...), the values for each seed and resample
    of_mean : (resamples, ...), the values over all seeds for each resample
    n_units : the number of images (or labels) per seed
    of_task : the typical variance between seeds on the task
    choice : (...), the variance due to the choice of settings
    """
    n_seeds = len(by_seed)
    images = of_mean.var(axis=0, ddof=1)
    if n_seeds == 1:
        return Estimate(value, images, images, np.zeros_like(images), choice, n_units, 0.0)
    # For one seed, the part of the image variance that seeds do not share is n_seeds times that of the mean over seeds.
    unshared = (samples.var(axis=1, ddof=1).mean(axis=0) - images).clip(min=0) / (n_seeds - 1)
    between, freedom = moderated(by_seed.var(axis=0, ddof=1), n_seeds - 1, of_task)
    common = (images - unshared).clip(min=0)
    return Estimate(value, images, common, between / n_seeds, choice, n_units, freedom)


def typical_of(by_seed: Values, n_methods: int) -> Typical:
    """Estimate the variance between seeds that statistics typically have.

    `by_seed`, (n_seeds, n_statistics, ...), contains the statistics for each seed. `n_methods` is the number of
    methods that are compared. The numbers in the result have shape (...).
    """
    if len(by_seed) == 1:
        return ALONE
    variances = np.moveaxis(by_seed.var(axis=0, ddof=1), 0, -1)
    *shape, n_statistics = variances.shape
    of_each = [
        typical(each[np.isfinite(each)], len(by_seed) - 1, n_methods) for each in variances.reshape(-1, n_statistics)
    ]
    if not shape:
        return of_each[0]
    of_all = np.array([(each.variance, each.freedom) for each in of_each]).reshape(*shape, 2)
    return Typical(of_all[..., 0], of_all[..., 1])


def stack(seeds: Sequence[Values], samples: Sequence[Values]) -> Estimates:
    """Return estimates of quantities that are means over units, such as images.

    `seeds` contains a table of the units' values, (n_units, n_quantities), for each seed. `samples` contains the means
    over resampled units, (resamples, n_quantities), for each seed.
    """
    by_seed = np.stack([table.mean(axis=0) for table in seeds])
    return Estimates(by_seed, np.stack(samples), min(map(len, seeds)))
