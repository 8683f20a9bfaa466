"""Estimate how much metrics vary because the settings of a method were chosen on a sample of validation images.

If all seeds have the same split, one search chooses the settings for all of them. The variance between seeds then does
not contain the variance due to this choice. To estimate the latter, the choice is repeated on many resamples. A
resample consists of validation images and seeds of the search, drawn with replacement. The configuration with the
highest validation metric in the resample is chosen. The spread of a metric is the standard deviation, over resamples,
of the chosen configuration's mean on all validation images. It is divided by the mean of the configuration that was
really chosen. If no other configuration comes near that one, the spread is 0.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vsebench.evaluation.metrics.base import ListMetric, load_metric
from vsebench.evaluation.significance import draw_counts

Values = NDArray[np.float64]
Spread = Mapping[str, float]  # metric -> relative standard deviation due to the choice of settings

# The metrics whose spread is computed, besides the validation metric; a fixed list, so that adding a metric to a
# run does not require new fits.
METRICS = ("map", "ndcg@10", "auc", "precision@1", "precision@5", "precision@10", "recall@5", "recall@10")
# The metrics that are added if the data set states which labels are siblings, and the run has a metric of siblings.
OF_SIBLINGS = ("sibling_precision@1", "sibling_precision@5", "sibling_precision@10")
RESAMPLES = 1000
SEED = 96  # for drawing from the seeds of the search
UNKNOWN = 1.0  # an unknown relative spread: as large as the metric itself, so that the metric decides nothing


def spread_of_choice(configurations: Sequence[Values], metrics: Sequence[str], chosen: int) -> dict[str, float]:
    """Return the spread of each metric, or an empty mapping if there is only one configuration.

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
    n_seeds, n_images = values.shape[1:3]
    drawn = np.random.default_rng(SEED).integers(n_seeds, size=(RESAMPLES, n_seeds))
    by_resample = np.zeros((RESAMPLES, len(values)))
    for block, images in draw_counts(n_images, RESAMPLES):
        for seed in range(n_seeds):
            times = (drawn[block] == seed).sum(axis=1, keepdims=True)
            by_resample[block] += times * (images @ values[:, seed, :, 0].T)
    means = values.mean(axis=(1, 2))
    of_choices = means[by_resample.argmax(axis=1)]
    deviations = of_choices.std(axis=0)
    return {
        metric: float(deviation / mean) if mean > 0 else 0.0
        for metric, deviation, mean in zip(metrics, deviations, means[chosen], strict=True)
    }


def spread_of(metric: str, spread: Spread) -> float:
    """Return the spread of a metric, or 0 if `spread` is empty.

    If `spread` has other metrics only, the largest of their spreads is returned. Sibling precision can vary much more
    than metrics computed from ranks. Its spread is therefore that of the other sibling precisions. If there are none,
    it is UNKNOWN.
    """
    if metric in spread or not spread:
        return spread.get(metric, 0.0)
    from_lists = isinstance(load_metric(metric), ListMetric)
    alike = [size for name, size in spread.items() if isinstance(load_metric(name), ListMetric) == from_lists]
    return max(alike, default=UNKNOWN)


def deviations(metric: str, variants: Sequence[str], spreads: Mapping[str, Spread], means: Values) -> Values:
    """Return by how much the choice of settings changes the means of a metric, (n_searches, n_quantities).

    A quantity is the metric's mean for one entry; several entries can have the same variant. Each row belongs to the
    search of one variant. It contains one standard deviation for each quantity of this variant, and 0 for all other
    quantities. Searches of different variants are independent.

    Parameters
    ----------
    variants : the variant of each quantity
    spreads : variant -> spread of each metric; a variant without a search may be missing
    means : the mean of each quantity, (n_quantities,)
    """
    searched = [variant for variant in dict.fromkeys(variants) if spreads.get(variant)]
    rows = [[variant == name for variant in variants] for name in searched]
    sizes = [spread_of(metric, spreads[name]) for name in searched]
    ones = np.array(rows, dtype=float).reshape(-1, len(variants))
    return np.asarray(ones * np.array(sizes).reshape(-1, 1) * means)
