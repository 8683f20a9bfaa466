"""Metrics of models, with bootstrap resamples."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import UnionType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.evaluation.frequencies import Frequencies
from vsebench.evaluation.metrics import list_values, popularity_values, propensity_values, values
from vsebench.evaluation.metrics.base import (
    EqualLabelsMetric,
    ImageSetMetric,
    LabelMetric,
    ListMetric,
    Metric,
    PopularityMetric,
    PropensityMetric,
    RankMetric,
    SeenMetric,
    SetMetric,
    load_metric,
    metric_of_kind,
)
from vsebench.evaluation.sets import LabelSets, resampled
from vsebench.evaluation.significance import Values, bootstrap_all


@dataclass(frozen=True)
class Ranked:
    """The output of the stage `rank` for a model; `label_ranks` is None unless the protocol tests on new images."""

    ranks: pl.DataFrame
    lists: pl.DataFrame
    label_ranks: pl.DataFrame | None = None


@dataclass(frozen=True)
class Measured:
    """The metrics of a model.

    A metric is NaN if it cannot be computed. This concerns:

    - label metrics, if the models are trained on other labels of the test images
    - list metrics, if the data set has no siblings
    - popularity metrics and propensity metrics, if the frequencies of labels are not known
    - metrics of seen and unseen labels, if all held-out labels are seen or all are unseen
    """

    values: Values  # (n_metrics,)
    samples: Values  # (resamples, n_metrics), bootstrap values
    n: NDArray[np.int64]  # (n_metrics,), the number of images (or labels) that each metric averages over


def measure(
    models: Sequence[Ranked],
    metrics: Sequence[str],
    n_labels: int,
    resamples: int,
    siblings: pl.DataFrame | None = None,
    learnt: NDArray[np.bool_] | None = None,
    frequencies: Frequencies | None = None,
) -> list[Measured]:
    """Return the metrics of models that were tested on the same images.

    Each resample draws the same images for all models. `n_labels` is the number of candidates. `siblings` is the table
    `schemas.SIBLINGS`, or None if the data set has no siblings. `learnt` is a mask over the labels of the data set,
    which marks the labels that the models are trained on. If it is None, the models are trained on all labels.
    `frequencies` is None if the frequencies of labels are not known.
    """
    of_images, of_labels, of_lists = (_of_kind(metrics, kind) for kind in (RankMetric, LabelMetric, ListMetric))
    of_sets, of_seen = _of_kind(metrics, SetMetric | ImageSetMetric), _of_kind(metrics, SeenMetric)
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
    if of_popularity := _of_kind(metrics, PopularityMetric):
        tables = [_popularity_values(model, of_popularity, frequencies) for model in models]
        parts.append((of_popularity, _measure_units(tables, resamples)))
    if of_propensity := _of_kind(metrics, PropensityMetric):
        parts.append((of_propensity, _measure_shares(models, of_propensity, frequencies, resamples)))
    parts += [([name], _measure_seen(models, name, resamples, learnt)) for name in of_seen]
    return _side_by_side(parts, metrics)


def values_of_cold(ranks: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return the mean of each rank metric over all images, over the cold images, and over the other images.

    `ranks` is the table `schemas.RANKS` of a model, which marks the cold images. The columns of the result are metric,
    images (the group: "all", "cold" or "others"), value, and n (the number of images). Empty groups have no rows.
    """
    cold = ranks.group_by("image", maintain_order=True).agg(pl.col("cold").first())["cold"].to_numpy()
    by_image = values(ranks, metrics)
    groups = {"all": np.ones_like(cold), "cold": cold, "others": ~cold}
    lines = [
        {"metric": metric, "images": group, "value": float(by_image[selected, column].mean()), "n": int(selected.sum())}
        for column, metric in enumerate(metrics)
        for group, selected in groups.items()
        if selected.any()
    ]
    schema = {"metric": pl.String, "images": pl.String, "value": pl.Float64, "n": pl.Int64}
    return pl.DataFrame(lines, schema=schema)


def measure_sets(sets: Sequence[LabelSets], metrics: Sequence[str], resamples: int) -> list[Measured]:
    """Return the metrics of several predictions of label sets for the same images.

    Each resample draws the same images for all predictions.
    """
    of_images, of_equal_labels = _of_kind(metrics, ImageSetMetric), _of_kind(metrics, EqualLabelsMetric)
    of_counts = [name for name in _of_kind(metrics, SetMetric) if name not in of_equal_labels]
    parts = []
    if of_images:
        tables = [label_sets.image_values(of_images) for label_sets in sets]
        parts.append((of_images, _measure_units(tables, resamples)))
    if of_equal_labels:
        parts.append((of_equal_labels, _measure_equal_labels(sets, of_equal_labels, resamples)))
    if of_counts:
        n = np.full(len(of_counts), sets[0].n_images, dtype=np.int64)
        measured = [
            _recentred(Measured(np.array([label_sets.value(name) for name in of_counts]), samples, n), of_counts)
            for label_sets, samples in zip(sets, resampled(sets, of_counts, resamples), strict=True)
        ]
        parts.append((of_counts, measured))
    return _side_by_side(parts, metrics)


def _measure_equal_labels(sets: Sequence[LabelSets], names: Sequence[str], resamples: int) -> list[Measured]:
    """Measure metrics of the class `EqualLabelsMetric`, whose docstring explains their resamples."""
    metrics = [metric_of_kind(name, EqualLabelsMetric, "label sets of images", "macro_f1") for name in names]
    tables = [np.stack([metric.lost_without(label_sets) for metric in metrics], axis=1) for label_sets in sets]
    measured = []
    for label_sets, lost, means in zip(sets, tables, bootstrap_all(tables, resamples), strict=True):
        values = np.array([label_sets.value(name) for name in names])
        largest = [metric.bound(label_sets.right.shape[1]) for metric in metrics]
        samples = np.clip(values + len(lost) * (means - lost.mean(axis=0)), 0, largest)
        measured.append(Measured(values, samples, np.full(len(names), len(lost), dtype=np.int64)))
    return measured


def _recentred(measured: Measured, metrics: Sequence[str]) -> Measured:
    """Shift the resamples of each `recentred` metric so that their median is the metric's value.

    The shifted resamples are clipped to the range of possible values. Other metrics are not changed.
    """
    samples = measured.samples.copy()
    for column, metric in enumerate(map(load_metric, metrics)):
        if isinstance(metric, SetMetric) and metric.recentred:
            shift = measured.values[column] - np.median(samples[:, column])
            samples[:, column] = np.clip(samples[:, column] + shift, 0, metric.largest)
    return Measured(measured.values, samples, measured.n)


def _of_kind(metrics: Sequence[str], kind: type[Metric] | UnionType) -> list[str]:
    return [name for name in metrics if isinstance(load_metric(name), kind)]


def _side_by_side(parts: Sequence[tuple[list[str], list[Measured]]], metrics: Sequence[str]) -> list[Measured]:
    """Join metrics that were measured in parts, and return them for each model in the order of `metrics`.

    A part consists of the names of its metrics, and of their values for each model.
    """
    order = [[name for names, _ in parts for name in names].index(name) for name in metrics]
    return [
        Measured(
            np.concatenate([part.values for part in parts_of_model])[order],
            np.concatenate([part.samples for part in parts_of_model], axis=1)[:, order],
            np.concatenate([part.n for part in parts_of_model])[order],
        )
        for parts_of_model in zip(*(measured for _, measured in parts), strict=True)
    ]


def _measure_units(tables: list[Values], resamples: int) -> list[Measured]:
    """Measure metrics that are means over units, which are images or labels.

    `tables` contains the values of each model, (n_units, n_metrics).
    """
    samples = bootstrap_all(tables, resamples)
    return [
        Measured(table.mean(axis=0), sample, np.full(table.shape[1], len(table), dtype=np.int64))
        for table, sample in zip(tables, samples, strict=True)
    ]


def _label_values(model: Ranked, metrics: Sequence[str]) -> Values:
    """Return label metrics, with a row for each label that has a test image.

    If images were not ranked, the result is a single row of NaN.
    """
    if model.label_ranks is None:
        return np.full((1, len(metrics)), np.nan)
    kind = LabelMetric, "the ranks of images", "label_map"
    expressions = {name: metric_of_kind(name, *kind).value() for name in metrics}
    by_label = model.label_ranks.group_by("label", maintain_order=True).agg(**expressions)
    return by_label.select(pl.col(name).cast(pl.Float64) for name in metrics).to_numpy()


def _list_values(model: Ranked, metrics: Sequence[str], siblings: pl.DataFrame | None) -> Values:
    """Return list metrics, with a row for each image that has a held-out label.

    If `siblings` is None, the result is a single row of NaN.
    """
    if siblings is None:
        return np.full((1, len(metrics)), np.nan)
    return list_values(model.lists, model.ranks, metrics, siblings)


def _popularity_values(model: Ranked, metrics: Sequence[str], frequencies: Frequencies | None) -> Values:
    """Return popularity metrics, with a row for each image that has a held-out label.

    If `frequencies` is None, the result is a single row of NaN.
    """
    if frequencies is None:
        return np.full((1, len(metrics)), np.nan)
    return popularity_values(model.lists, model.ranks, metrics, frequencies.of_labels)


def _measure_shares(
    models: Sequence[Ranked], metrics: Sequence[str], frequencies: Frequencies | None, resamples: int
) -> list[Measured]:
    """Measure propensity metrics, each of which is a mean over images divided by the best possible mean.

    For a resample, both means are taken over the images of the resample. All metrics are NaN if `frequencies` is None.
    """
    if frequencies is None:
        return _measure_units([np.full((1, len(metrics)), np.nan) for _ in models], resamples)
    weights = frequencies.weights()
    tables = [np.hstack(propensity_values(model.ranks, metrics, weights)) for model in models]
    measured = []
    for table, samples in zip(tables, bootstrap_all(tables, resamples), strict=True):
        means = np.vstack([table.mean(axis=0), samples])
        found = means[:, : len(metrics)] / means[:, len(metrics) :]
        measured.append(Measured(found[0], found[1:], np.full(len(metrics), len(table), dtype=np.int64)))
    return measured


def _measure_seen(
    models: Sequence[Ranked], name: str, resamples: int, learnt: NDArray[np.bool_] | None
) -> list[Measured]:
    """Measure a metric that combines the recall of seen labels with the recall of unseen labels.

    The recall of seen labels is a mean over the images with a seen label, and the recall of unseen labels is a mean
    over the images with an unseen label.
    """
    metric = metric_of_kind(name, SeenMetric, "ranks of seen and unseen labels", "harmonic_recall@10")
    tables = [_recalls(model.ranks, metric.cutoff, learnt) for model in models]
    measured = []
    for table, samples in zip(tables, bootstrap_all(tables, resamples), strict=True):
        sums = np.vstack([table.mean(axis=0), samples])
        with np.errstate(invalid="ignore"):  # without a seen (or unseen) label, 0 / 0 is NaN
            found = metric.value(*(sums[:, :2] / sums[:, 2:]).T)
        if not sums[0, 2:].all():  # labels of only one kind are held out: recall@k is their recall
            found[:] = np.nan
        measured.append(Measured(found[:1], found[1:, np.newaxis], np.array([len(table)])))
    return measured


def _recalls(ranks: pl.DataFrame, cutoff: int | None, learnt: NDArray[np.bool_] | None) -> Values:
    """Return the recall of seen labels and the recall of unseen labels for each image.

    The result has shape (n_images, 4). The first two columns are the recalls of seen and of unseen labels. A recall is
    0 if the image has no label of this kind. The third column is 1 if the image has a seen label, and 0 if not. The
    fourth column states the same for unseen labels.
    """
    seen = np.ones(len(ranks), dtype=np.bool_) if learnt is None else learnt[ranks["label"].to_numpy()]
    # The order of held-out labels matters here, but `rank` does not fix the order of two held-out labels that have no
    # negative between them.
    hit = (pl.col("above") + pl.col("tied") + pl.col("right") <= cutoff).fill_null(False)
    marked = ranks.with_columns(seen=pl.Series(seen), hit=hit)
    groups = pl.col("seen"), ~pl.col("seen")
    recalls = ((pl.col("hit") & group).sum() / group.sum() for group in groups)
    by_image = marked.group_by("image", maintain_order=True).agg(
        seen_recall=next(recalls).fill_nan(0),
        unseen_recall=next(recalls).fill_nan(0),
        has_seen=groups[0].any().cast(pl.Float64),
        has_unseen=groups[1].any().cast(pl.Float64),
    )
    return by_image.drop("image").to_numpy()


def _measure_first_labels(
    models: Sequence[Ranked], metrics: Sequence[str], n_labels: int, resamples: int
) -> list[Measured]:
    """Measure set metrics with a cut-off: the predicted set of an image consists of the first labels of its list."""
    parts = []
    for cutoff in dict.fromkeys(load_metric(name).cutoff for name in metrics):
        names = [name for name in metrics if load_metric(name).cutoff == cutoff]
        sets = [first_labels(model, cutoff, n_labels) for model in models]
        parts.append((names, measure_sets(sets, names, resamples)))
    return _side_by_side(parts, metrics)


def first_labels(model: Ranked, cutoff: int | None, n_labels: int) -> LabelSets:
    """Return label sets in which the first `cutoff` labels of each list are predicted.

    Images without a held-out label are left out, because they have no ranks. Means over images leave them out, too.
    Labels are renumbered without gaps. Therefore `n_labels` can be the number of candidates, and means over labels
    include only candidates.
    """
    images = model.ranks["image"].unique().sort()
    predicted = model.lists.filter(pl.col("rank") <= cutoff).select("image", "label")
    both = pl.concat([predicted.with_columns(right=False), model.ranks.select("image", "label", right=True)])
    both = both.with_columns(label=pl.col("label").rank("dense") - 1)
    return LabelSets.of_pairs(both.filter(~pl.col("right")), both.filter("right"), images, n_labels)
