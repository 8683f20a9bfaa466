"""Recall in five equally large groups of labels, from frequent to rare labels.

Frequent labels dominate means over images. Here all labels have the same weight, so that differences on rare labels
become visible.
"""

from collections.abc import Sequence

import polars as pl

from vsebench.evaluation.metrics import with_ranks
from vsebench.evaluation.metrics.base import load_metric, within

BANDS = 5


def cutoff_for(ranks: pl.DataFrame, metrics: Sequence[str]) -> int:
    """Return the first cut-off in `metrics` that is at least the mean number of held-out labels per image.

    The mean number is rounded. With a smaller cut-off, such as that of precision@1, even a perfect ranking would miss
    most labels. If all cut-offs are smaller, the result is 10. `ranks` is the table RANKS of `core.schemas`.
    """
    held_out = round(len(ranks) / ranks["image"].n_unique())
    return next((cutoff for name in metrics if (cutoff := load_metric(name).cutoff or 0) >= held_out), 10)


def recall_by_frequency(ranks: pl.DataFrame, training: pl.DataFrame, cutoff: int) -> pl.DataFrame:
    """Return the mean recall of groups of labels with similar numbers of training images.

    The recall of a label is computed over the images from which it is held out: it is the share of these images that
    have the label among the first `cutoff` labels of their list. A label that is never held out belongs to no group.
    Equally frequent labels are sorted by their index. If no label has a training image, as with unseen labels, there
    are no groups.

    `ranks` is the table RANKS of `core.schemas`. `training` is the table PAIRS of the training and validation labels.
    The result has a row for each of up to five groups. The group with the most frequent labels comes first. The columns
    are band (the number of the group, from 1), labels (the number of labels in the group), fewest and most (the
    smallest and the largest number of training images of a label), and value (the mean recall).
    """
    labels = with_ranks(ranks).group_by("label").agg(value=within(cutoff).mean())
    counts = training.group_by("label").agg(images=pl.len().cast(pl.Int64))
    labels = labels.join(counts, on="label", how="left").with_columns(pl.col("images").fill_null(0))
    labels = labels.sort("images", "label", descending=[True, False]).with_row_index("rank")
    if not labels["images"].sum():
        labels = labels.clear()
    band = pl.col("rank").cast(pl.Int64) * min(BANDS, len(labels)) // len(labels) + 1
    grouped = labels.with_columns(band=band).group_by("band").agg(
        labels=pl.len().cast(pl.Int64),
        fewest=pl.col("images").min(),
        most=pl.col("images").max(),
        value=pl.col("value").mean(),
    )  # fmt: skip
    return grouped.sort("band")
