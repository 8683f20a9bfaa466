"""Metrics in modules of what belongs together, found by their names; and how they are computed from ranks."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.evaluation.metrics.base import RankMetric, load_metric

RANKED = ["above", "tied", "right", "negatives"]  # what a metric of an image with one held-out label depends on


def has_one_label_each(ranks: pl.DataFrame) -> bool:
    """Return whether every image has one held-out label."""
    return ranks["image"].n_unique() == ranks.height


def with_ranks(ranks: pl.DataFrame) -> pl.DataFrame:
    """Add the column `rank` that metrics read (see `RankMetric.value`)."""
    worst = pl.col("above") + pl.col("tied")
    if has_one_label_each(ranks):
        return ranks.with_columns(rank=worst + 1)
    return ranks.with_columns(rank=worst + worst.rank("ordinal").over("image").cast(pl.Int32))


def of_images(ranks: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return metrics of images, a column each, float64; one row per image with a held-out label, ascending.

    Where images have one held-out label each, a metric is computed once for all images with the same rank, since there
    are far fewer ranks than images.
    """
    if has_one_label_each(ranks):
        different = ranks.select(RANKED).unique(maintain_order=True)
        found = different.hstack(_of_images(different.with_row_index("image"), metrics))
        joined = ranks.select(RANKED).join(found, on=RANKED, how="left", nulls_equal=True, maintain_order="left")
        return joined.select(metrics)
    return _of_images(ranks, metrics)


def _of_images(ranks: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    expressions = {name: _rank_metric(name).value().cast(pl.Float64) for name in metrics}
    return with_ranks(ranks).group_by("image", maintain_order=True).agg(**expressions).select(metrics)


def values(ranks: pl.DataFrame, metrics: Sequence[str]) -> NDArray[np.float64]:
    """Return metrics of images, (n_images, n_metrics), one row per image with a held-out label, ascending."""
    return of_images(ranks, metrics).to_numpy()


def mean_metric(ranks: pl.DataFrame, name: str) -> float:
    """Return one metric of images, averaged over the images."""
    return float(of_images(ranks, [name])[name].mean())  # type: ignore[arg-type]


def _rank_metric(name: str) -> RankMetric:
    metric = load_metric(name)
    if not isinstance(metric, RankMetric):
        raise UserError(f"{name} cannot be computed from the ranks of an image's labels; use a metric such as map")
    return metric
