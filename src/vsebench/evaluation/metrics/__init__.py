"""Functions that compute metrics from tables of ranks and lists; the modules of this package define the metrics."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.evaluation.metrics.base import (
    ListMetric,
    PopularityMetric,
    PropensityMetric,
    RankMetric,
    metric_of_kind,
)

RANKED = ["above", "tied", "right", "negatives"]  # the inputs of a metric of an image with one held-out label


def has_one_label_each(ranks: pl.DataFrame) -> bool:
    """Return whether every image has one held-out label."""
    return ranks["image"].n_unique() == ranks.height


def with_ranks(ranks: pl.DataFrame) -> pl.DataFrame:
    """Return `ranks` with the additional column `rank`, which `RankMetric.value` explains."""
    worst = pl.col("above") + pl.col("tied")
    if has_one_label_each(ranks):
        return ranks.with_columns(rank=worst + 1)
    return ranks.with_columns(rank=worst + worst.rank("ordinal").over("image").cast(pl.Int32))


def of_images(ranks: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return a table of metrics, with one row per image that has a held-out label.

    `ranks` is the table RANKS of `core.schemas`. The result has a float64 column for each metric, and it is sorted by
    image, as `ranks` is. If every image has one held-out label, images with the same rank have the same metrics. The
    metrics are then computed once for each distinct rank, because there are far fewer distinct ranks than images.
    """
    if has_one_label_each(ranks):
        different = ranks.select(RANKED).unique(maintain_order=True)
        of_ranks = different.hstack(_of_images(different.with_row_index("image"), metrics))
        joined = ranks.select(RANKED).join(of_ranks, on=RANKED, how="left", nulls_equal=True, maintain_order="left")
        return joined.select(metrics)
    return _of_images(ranks, metrics)


def _of_images(ranks: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    kind = RankMetric, "the ranks of an image's labels", "map"
    expressions = {name: metric_of_kind(name, *kind).value().cast(pl.Float64) for name in metrics}
    return with_ranks(ranks).group_by("image", maintain_order=True).agg(**expressions).select(metrics)


def values(ranks: pl.DataFrame, metrics: Sequence[str]) -> NDArray[np.float64]:
    """Return the metrics of `of_images` as an array with shape (n_images, n_metrics)."""
    return of_images(ranks, metrics).to_numpy()


def mean_metric(ranks: pl.DataFrame, name: str) -> float:
    """Return the mean of a metric over images."""
    return float(of_images(ranks, [name])[name].mean())  # type: ignore[arg-type]


def list_values(
    lists: pl.DataFrame, right: pl.DataFrame, metrics: Sequence[str], siblings: pl.DataFrame
) -> NDArray[np.float64]:
    """Return the values of list metrics, with one row per image that has a held-out label.

    The result has shape (n_images, n_metrics) and is sorted by image. `lists` and `siblings` are the tables LISTS and
    SIBLINGS of `core.schemas`; `right` contains a pair (image, label) for each held-out label.
    """
    kind = ListMetric, "lists of labels", "sibling_precision@10"
    expressions = {name: metric_of_kind(name, *kind).value() for name in metrics}
    right = right.select("image", "label")
    of_siblings = right.join(siblings, on="label").select("image", label="sibling")
    related = pl.concat([right, of_siblings]).unique().with_columns(related=True)
    marked_lists = lists.join(related, on=["image", "label"], how="left")
    rows = related.select("image").unique().join(marked_lists, on="image", how="left")
    by_image = rows.with_columns(pl.col("related").fill_null(False)).group_by("image").agg(**expressions).sort("image")
    return by_image.select(pl.col(name).cast(pl.Float64) for name in metrics).to_numpy()


def popularity_values(
    lists: pl.DataFrame, right: pl.DataFrame, metrics: Sequence[str], frequencies: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the values of popularity metrics, with one row per image that has a held-out label.

    The result has shape (n_images, n_metrics) and is sorted by image. `lists` is the table LISTS of `core.schemas`, and
    `right` contains a pair (image, label) for each held-out label. `frequencies`, (n_labels,), contains the number of
    training images with each label.
    """
    kind = PopularityMetric, "the training frequencies of a list's labels", "average_popularity@10"
    expressions = {name: metric_of_kind(name, *kind).value().cast(pl.Float64) for name in metrics}
    counted = lists.with_columns(frequency=pl.Series(frequencies[lists["label"].to_numpy()]))
    rows = right.select("image").unique().join(counted, on="image", how="left")
    return rows.sort("image", "rank").group_by("image", maintain_order=True).agg(**expressions).drop("image").to_numpy()


def propensity_values(
    ranks: pl.DataFrame, metrics: Sequence[str], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values of propensity metrics for the images' lists, and for the best possible lists.

    Each of the two arrays has shape (n_images, n_metrics) and is sorted by image. `PropensityMetric` defines the best
    possible lists. `ranks` is the table RANKS of `core.schemas`, and `weights`, (n_labels,), contains the weight of
    each label.
    """
    kind = PropensityMetric, "the ranks and weights of an image's labels", "psp@5"
    expressions = {name: metric_of_kind(name, *kind).value().cast(pl.Float64) for name in metrics}
    rows = ranks.with_columns(weight=pl.Series(weights[ranks["label"].to_numpy()]))
    # Held-out labels have different weights, so their order matters. `with_ranks` does not fix the order of held-out
    # labels that have no negative between them.
    place = pl.int_range(1, pl.len() + 1).over("image")
    listed = rows.sort("image", "right", "weight", nulls_last=True).with_columns(
        rank=pl.col("above") + pl.col("tied") + place
    )
    best = rows.sort("image", "weight", descending=[False, True]).with_columns(rank=place)
    of_lists, of_best = (
        table.group_by("image", maintain_order=True).agg(**expressions).drop("image").to_numpy()
        for table in (listed, best)
    )
    return of_lists, of_best
