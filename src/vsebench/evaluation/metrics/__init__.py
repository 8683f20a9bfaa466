"""Metrics, one module each, found by its name; and how they are computed from the ranks of a model."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.evaluation.metrics.base import RankMetric, load_metric


def with_places(ranks: pl.DataFrame) -> pl.DataFrame:
    """Add the column `place` that metrics read (see `RankMetric.value`)."""
    worst = pl.col("above") + pl.col("tied")
    if ranks["image"].n_unique() == ranks.height:
        return ranks.with_columns(place=worst + 1)
    return ranks.with_columns(place=worst + worst.rank("ordinal").over("image").cast(pl.Int32))


def values(ranks: pl.DataFrame, metrics: Sequence[str]) -> NDArray[np.float64]:
    """Return metrics of images, (n_images, n_metrics), one row per image with a held-out label, ascending."""
    expressions = {name: _rank_metric(name).value() for name in metrics}
    by_image = with_places(ranks).group_by("image", maintain_order=True).agg(**expressions)
    return by_image.select(pl.col(name).cast(pl.Float64) for name in metrics).to_numpy()


def mean_metric(ranks: pl.DataFrame, name: str) -> float:
    """Return one metric of images, averaged over the images."""
    by_image = with_places(ranks).group_by("image", maintain_order=True).agg(value=_rank_metric(name).value())
    return float(by_image["value"].cast(pl.Float64).mean())  # type: ignore[arg-type]


def _rank_metric(name: str) -> RankMetric:
    metric = load_metric(name)
    if not isinstance(metric, RankMetric):
        raise UserError(f"{name} cannot be computed from the ranks of an image's labels; use a metric such as map")
    return metric
