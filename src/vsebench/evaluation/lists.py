"""Values of list metrics, from the first labels of each image and the siblings of its held-out labels."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.evaluation.metrics.base import ListMetric, metric_of_kind


def list_values(
    lists: pl.DataFrame, right: pl.DataFrame, metrics: Sequence[str], siblings: pl.DataFrame
) -> NDArray[np.float64]:
    """Return list metrics, (n_images, n_metrics), for the images with a held-out label in ascending order.

    `lists` and `siblings` are the tables LISTS and SIBLINGS of `core.schemas`, `right` contains the held-out labels
    (image, label).
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
