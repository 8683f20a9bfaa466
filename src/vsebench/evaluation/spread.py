"""Estimate how much metrics vary because the settings of a method were chosen on a sample of validation images.

If all seeds have the same split, one search chooses the settings for all of them. The variance between seeds then does
not contain the variance due to this choice. To estimate the latter, the search is divided into two independent halves
many times: each half has half of the validation images and, if there are several, half of the seeds of the search. Each
half chooses the configuration with its highest validation metric. The variance of a metric is half the mean squared
difference between the two chosen configurations, each measured on all validation images. The spread is the square root
of this variance, divided by the mean of the configuration that was really chosen. If no other configuration comes near
that one, the spread is 0.

A half has fewer images and seeds than the whole search, so its choice varies more. The configurations' means contain
noise, too. The spread is therefore usually too large (docs/protocols.md states by how much).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vsebench.evaluation.metrics.base import ListMetric, RankMetric, load_metric

Values = NDArray[np.float64]
# Maps each metric to its relative standard deviation due to the choice of settings; None if this is not known.
Spread = Mapping[str, float | None]

# The metrics whose spread is computed, besides the validation metric; a fixed list, so that adding a metric to a
# run does not require new fits.
METRICS = (
    "map", "ndcg@10", "auc", "precision@1", "precision@5", "precision@10", "recall@5", "recall@10", "one_error",
    "coverage",
)  # fmt: skip
# The metrics that are added if the data set states which labels are siblings, and the run has a metric of siblings.
OF_SIBLINGS = ("sibling_precision@1", "sibling_precision@5", "sibling_precision@10")
DIVISIONS = 1000
SEED = 96  # for dividing the images and seeds of the search
UNKNOWN = np.inf  # an unknown spread; the metric then decides nothing


def spread_of_choice(configurations: Sequence[Values], metrics: Sequence[str], chosen: int) -> dict[str, float | None]:
    """Return the spread of each metric, or an empty mapping if there is only one configuration.

    If the chosen configuration's mean is 0, and that of another configuration is not, the spread is None.

    Parameters
    ----------
    configurations : for each configuration, the metrics of each validation image for each seed of the search,
        (n_seeds, n_images, n_metrics)
    metrics : the names of the metrics; settings are chosen by the first one
    chosen : the index of the configuration that the search chose
    """
    if len(configurations) < 2:
        return {}
    values = np.stack(configurations)
    means = values.mean(axis=(1, 2))
    first, second = choices_of_halves(values[..., 0])
    deviations_of = np.sqrt(np.mean((means[first] - means[second]) ** 2, axis=0) / 2)
    return {
        metric: float(deviation / mean) if mean > 0 else (None if rivals.any() else 0.0)
        for metric, deviation, mean, rivals in zip(metrics, deviations_of, means[chosen], means.T, strict=True)
    }


def choices_of_halves(values: Values) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the best configuration of each of two halves of a search, for many divisions into halves.

    Both results have shape (DIVISIONS,). If the number of images or seeds is odd, the second half has one more. A
    single seed or image is in both halves.

    Parameters
    ----------
    values : the validation metric, (n_configurations, n_seeds, n_images)
    """
    rng = np.random.default_rng(SEED)
    images, seeds = (halves(n, rng) for n in (values.shape[2], values.shape[1]))
    first, second = (
        np.einsum("ds,csd->dc", of_seeds, values @ of_images.T)
        for of_images, of_seeds in zip(images, seeds, strict=True)
    )
    return first.argmax(axis=1), second.argmax(axis=1)


def halves(n: int, rng: np.random.Generator) -> tuple[Values, Values]:
    """Divide `n` elements at random into two halves, `DIVISIONS` times.

    Return the halves as two arrays of zeros and ones with shape (DIVISIONS, n). A single element is in both halves.
    """
    if n == 1:
        whole = np.ones((DIVISIONS, 1))
        return whole, whole
    in_first = rng.permuted(np.tile(np.arange(n) < n // 2, (DIVISIONS, 1)), axis=1).astype(float)
    return in_first, 1 - in_first


def spread_of_ensemble(weights: Sequence[float], of_members: Sequence[Spread]) -> dict[str, float | None]:
    """Return the spread of an ensemble's metrics that is due to the choice of its members' settings.

    A member's spread counts in proportion to its weight, and the searches of the members count as independent. The
    choice of the weights adds nothing. Members without a spread, whose settings were not chosen, add nothing either.
    """
    counted = [(weight, spread) for weight, spread in zip(weights, of_members, strict=True) if weight and spread]
    together: dict[str, float | None] = {}
    for metric in dict.fromkeys(name for _, spread in counted for name in spread):
        size = float(np.sqrt(sum((weight * spread_of(metric, spread)) ** 2 for weight, spread in counted)))
        together[metric] = size if np.isfinite(size) else None
    return together


def spread_of(metric: str, spread: Spread) -> float:
    """Return the spread of a metric; 0 if `spread` is empty, and UNKNOWN if the spread is not known.

    If `spread` lacks the metric, the largest known spread of other metrics is returned. These are the metrics in
    `spread` that are computed from ranks and of which large values are better. For sibling precision, which can vary
    much more, they are the other sibling precisions. For metrics such as the one-error, which are computed from ranks
    and of which small values are better, nothing is known from other metrics.
    """
    if not spread:
        return 0.0
    if metric in spread:
        return UNKNOWN if (size := spread[metric]) is None else size
    kind = load_metric(metric)
    if isinstance(kind, RankMetric) and kind.lower_is_better:
        return UNKNOWN
    of_others = {load_metric(name): size for name, size in spread.items() if size is not None}
    alike = [
        size
        for other, size in of_others.items()
        if isinstance(other, ListMetric) == isinstance(kind, ListMetric) and not other.lower_is_better
    ]
    return max(alike, default=UNKNOWN)


def deviations(metric: str, variants: Sequence[str], spreads: Mapping[str, Spread], means: Values) -> Values:
    """Return by how much the choice of settings changes the means of a metric, (n_searches, n_quantities).

    A quantity is the metric's mean for one entry; several entries can have the same variant. Each row belongs to the
    search of one variant. It contains one standard deviation for each quantity of this variant (infinity if it is not
    known), and 0 for all other quantities. Searches of different variants are independent.

    Parameters
    ----------
    variants : the variant of each quantity
    spreads : variant -> spread of each metric; a variant without a search may be missing
    means : the mean of each quantity, (n_quantities,)
    """
    searched = [variant for variant in dict.fromkeys(variants) if spreads.get(variant)]
    of_searches = np.zeros((len(searched), len(variants)))
    for row, name in enumerate(searched):
        own = [column for column, variant in enumerate(variants) if variant == name]
        size = spread_of(metric, spreads[name])
        of_searches[row, own] = UNKNOWN if size == UNKNOWN else size * means[own]
    return of_searches
