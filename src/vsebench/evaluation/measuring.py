"""Metrics of models with their bootstrap resamples, from ranks, lists and label ranks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.evaluation.lists import list_values
from vsebench.evaluation.metrics import values
from vsebench.evaluation.metrics.base import LabelMetric, ListMetric, RankMetric, SetMetric, load_metric
from vsebench.evaluation.significance import Values, bootstrap_all, draw_counts


@dataclass(frozen=True)
class Ranked:
    """What the stage `rank` wrote of one model; `label_ranks` is None where test images are not new."""

    ranks: pl.DataFrame
    lists: pl.DataFrame
    label_ranks: pl.DataFrame | None = None


@dataclass(frozen=True)
class Measured:
    """The metrics of one model.

    Attributes
    ----------
    values : (n_metrics,) float64; NaN for a metric that cannot be computed (of labels where images are known, of lists
        without siblings)
    samples : (resamples, n_metrics) bootstrap values
    n : (n_metrics,) int64, the number of images (or labels) that each is over
    """

    values: Values
    samples: Values
    n: NDArray[np.int64]


@dataclass(frozen=True)
class SetCounts:
    """The image and label of each hit, of each predicted and of each right label; images are counted from 0."""

    pairs: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]  # of hits, predicted, right
    n_images: int
    n_labels: int

    def of(self, weights: NDArray[np.int64]) -> list[Values]:
        """Return the (n_labels,) counts of hits, predicted and right labels; image i counts `weights[i]` times."""
        counts = (np.bincount(label, weights[image], self.n_labels) for image, label in self.pairs)
        return [count.astype(np.float64) for count in counts]


def measure(
    models: Sequence[Ranked],
    metrics: Sequence[str],
    n_labels: int,
    resamples: int,
    siblings: pl.DataFrame | None = None,
) -> list[Measured]:
    """Return the metrics of models that were tested on the same images.

    Every resample draws the same images for each model. `n_labels` is the size of the vocabulary; `siblings` is the
    table `schemas.SIBLINGS`, None where nothing says which labels are siblings.
    """
    of_images = [name for name in metrics if isinstance(load_metric(name), RankMetric)]
    of_labels = [name for name in metrics if isinstance(load_metric(name), LabelMetric)]
    of_sets = [name for name in metrics if isinstance(load_metric(name), SetMetric)]
    of_lists = [name for name in metrics if isinstance(load_metric(name), ListMetric)]
    parts = [
        _measure_units([values(model.ranks, of_images) for model in models], resamples) if of_images else [],
        _measure_units([_label_values(model, of_labels) for model in models], resamples) if of_labels else [],
        _measure_sets(models, of_sets, n_labels, resamples) if of_sets else [],
        _measure_units([_list_values(model, of_lists, siblings) for model in models], resamples) if of_lists else [],
    ]
    order = [[*of_images, *of_labels, *of_sets, *of_lists].index(name) for name in metrics]
    found = []
    for place in range(len(models)):
        own = [part[place] for part in parts if part]
        found.append(
            Measured(
                np.concatenate([part.values for part in own])[order],
                np.concatenate([part.samples for part in own], axis=1)[:, order],
                np.concatenate([part.n for part in own])[order],
            )
        )
    return found


def _measure_units(tables: list[Values], resamples: int) -> list[Measured]:
    """Measure means over units, images or labels, from (n_units, n_metrics) values of each model."""
    samples = bootstrap_all(tables, resamples)
    return [
        Measured(table.mean(axis=0), sample, np.full(table.shape[1], len(table), dtype=np.int64))
        for table, sample in zip(tables, samples, strict=True)
    ]


def _label_values(model: Ranked, metrics: Sequence[str]) -> Values:
    """Return metrics of labels, (n_labels with a test image, n_metrics); NaN where images were not ranked."""
    if model.label_ranks is None:
        return np.full((1, len(metrics)), np.nan)
    expressions = {name: load_metric(name).value() for name in metrics}  # type: ignore[attr-defined]
    by_label = model.label_ranks.group_by("label", maintain_order=True).agg(**expressions)
    return by_label.select(pl.col(name).cast(pl.Float64) for name in metrics).to_numpy()


def _list_values(model: Ranked, metrics: Sequence[str], siblings: pl.DataFrame | None) -> Values:
    """Return metrics of lists, (n_images with a label, n_metrics); NaN without siblings."""
    if siblings is None:
        return np.full((1, len(metrics)), np.nan)
    return list_values(model.lists, model.ranks, metrics, siblings)


def _measure_sets(models: Sequence[Ranked], metrics: Sequence[str], n_labels: int, resamples: int) -> list[Measured]:
    """Compute metrics of sets; each resample of the images is counted again."""
    counts = [[set_counts(model, load_metric(name).cutoff, n_labels) for name in metrics] for model in models]
    n_images = counts[0][0].n_images
    everyone = np.ones(n_images, dtype=np.int64)

    def evaluate(own: list[SetCounts], weights: NDArray[np.int64]) -> list[float]:
        return [
            load_metric(name).value(*count.of(weights))  # type: ignore[attr-defined]
            for name, count in zip(metrics, own, strict=True)
        ]

    samples = np.empty((len(models), resamples, len(metrics)))
    for b, weights in enumerate(draw_counts(n_images, resamples)):
        samples[:, b] = [evaluate(own, weights) for own in counts]
    n = np.full(len(metrics), n_images, dtype=np.int64)
    return [Measured(np.array(evaluate(own, everyone)), samples[place], n) for place, own in enumerate(counts)]


def set_counts(model: Ranked, cutoff: int | None, n_labels: int) -> SetCounts:
    """Return hits, predicted and right labels where the first `cutoff` labels of each list are predicted.

    Images without a label, which have no ranks, are left out, as in means over images.
    """
    right = model.ranks.select("image", "label")
    images = right["image"].unique().sort()
    predicted = model.lists.filter(pl.col("place") <= cutoff, pl.col("image").is_in(images.implode()))
    predicted = predicted.select("image", "label")
    hits = predicted.join(right, on=["image", "label"], how="semi")
    numbers = {image: number for number, image in enumerate(images)}
    pairs = tuple(
        (
            frame["image"].replace_strict(numbers, return_dtype=pl.Int64).to_numpy(),
            frame["label"].cast(pl.Int64).to_numpy(),
        )
        for frame in (hits, predicted, right)
    )
    return SetCounts(pairs, len(numbers), n_labels)
