"""Metrics of models with their bootstrap resamples, from ranks, lists and label ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import UnionType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.evaluation.lists import list_values
from vsebench.evaluation.metrics import values
from vsebench.evaluation.metrics.base import (
    ImageSetMetric,
    LabelMetric,
    ListMetric,
    Metric,
    RankMetric,
    SetMetric,
    load_metric,
)
from vsebench.evaluation.sets import LabelSets, resampled
from vsebench.evaluation.significance import Values, bootstrap_all


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


def measure(
    models: Sequence[Ranked],
    metrics: Sequence[str],
    n_labels: int,
    resamples: int,
    siblings: pl.DataFrame | None = None,
) -> list[Measured]:
    """Return the metrics of models that were tested on the same images.

    Every resample draws the same images for each model. `n_labels` is the number of candidates; `siblings` is the
    table `schemas.SIBLINGS`, None where nothing says which labels are siblings.
    """
    of_images, of_labels, of_lists = (_of_kind(metrics, kind) for kind in (RankMetric, LabelMetric, ListMetric))
    of_sets = _of_kind(metrics, SetMetric | ImageSetMetric)
    parts = []
    if of_images:
        parts.append((of_images, _measure_units([values(model.ranks, of_images) for model in models], resamples)))
    if of_labels:
        parts.append((of_labels, _measure_units([_label_values(model, of_labels) for model in models], resamples)))
    if of_lists:
        tables = [_list_values(model, of_lists, siblings) for model in models]
        parts.append((of_lists, _measure_units(tables, resamples)))
    if of_sets:
        parts.append((of_sets, _measure_first_labels(models, of_sets, n_labels, resamples)))
    return _side_by_side(parts, metrics)


def values_of_cold(ranks: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return metrics of images, averaged over all images, over the cold ones, and over the others.

    Parameters
    ----------
    ranks : the table `schemas.RANKS` of a model

    Returns
    -------
    Columns metric, images ("all", "cold" or "others"), value and n, the number of images; no lines for a group without.
    """
    cold = ranks.group_by("image", maintain_order=True).agg(pl.col("cold").first())["cold"].to_numpy()
    found = values(ranks, metrics)
    groups = {"all": np.ones_like(cold), "cold": cold, "others": ~cold}
    lines = [
        {"metric": metric, "images": group, "value": float(found[which, column].mean()), "n": int(which.sum())}
        for column, metric in enumerate(metrics)
        for group, which in groups.items()
        if which.any()
    ]
    schema = {"metric": pl.String, "images": pl.String, "value": pl.Float64, "n": pl.Int64}
    return pl.DataFrame(lines, schema=schema)


def measure_sets(sets: Sequence[LabelSets], metrics: Sequence[str], resamples: int) -> list[Measured]:
    """Return metrics of predicted label sets of the same images; every resample draws the same images for each."""
    of_labels, of_images = _of_kind(metrics, SetMetric), _of_kind(metrics, ImageSetMetric)
    parts = []
    if of_images:
        parts.append((of_images, _measure_units([own.image_values(of_images) for own in sets], resamples)))
    if of_labels:
        n = np.full(len(of_labels), sets[0].n_images, dtype=np.int64)
        found = [
            Measured(np.array([own.value(name) for name in of_labels]), samples, n)
            for own, samples in zip(sets, resampled(sets, of_labels, resamples), strict=True)
        ]
        parts.append((of_labels, found))
    return _side_by_side(parts, metrics)


def _of_kind(metrics: Sequence[str], kind: type[Metric] | UnionType) -> list[str]:
    return [name for name in metrics if isinstance(load_metric(name), kind)]


def _side_by_side(parts: Sequence[tuple[list[str], list[Measured]]], metrics: Sequence[str]) -> list[Measured]:
    """Join the metrics of each model, which parts of them were measured apart, in the order of `metrics`."""
    order = [[name for names, _ in parts for name in names].index(name) for name in metrics]
    return [
        Measured(
            np.concatenate([part.values for part in own])[order],
            np.concatenate([part.samples for part in own], axis=1)[:, order],
            np.concatenate([part.n for part in own])[order],
        )
        for own in zip(*(found for _, found in parts), strict=True)
    ]


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


def _measure_first_labels(
    models: Sequence[Ranked], metrics: Sequence[str], n_labels: int, resamples: int
) -> list[Measured]:
    """Measure metrics of sets where the first labels of a list are predicted, as many as a metric's cut-off says."""
    parts = []
    for cutoff in dict.fromkeys(load_metric(name).cutoff for name in metrics):
        own = [name for name in metrics if load_metric(name).cutoff == cutoff]
        parts.append((own, measure_sets([first_labels(model, cutoff, n_labels) for model in models], own, resamples)))
    return _side_by_side(parts, metrics)


def first_labels(model: Ranked, cutoff: int | None, n_labels: int) -> LabelSets:
    """Return the label sets where the first `cutoff` labels of each list are predicted.

    Images without a label, which have no ranks, are left out, as in means over images. Labels are counted anew, so that
    `n_labels` need not be more than the candidates: where some labels are never asked for, no mean is over them.
    """
    images = model.ranks["image"].unique().sort()
    predicted = model.lists.filter(pl.col("place") <= cutoff).select("image", "label")
    both = pl.concat([predicted.with_columns(right=False), model.ranks.select("image", "label", right=True)])
    both = both.with_columns(label=pl.col("label").rank("dense") - 1)
    return LabelSets.of_pairs(both.filter(~pl.col("right")), both.filter("right"), images, n_labels)
