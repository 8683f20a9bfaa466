"""Recall of frequent and of rare labels: labels in five groups of equal size, by their number of training images.

A mean over images is a mean over what occurs often. This one gives each label the same weight, so that it shows what a
method does for rare labels, where most methods differ.
"""

import polars as pl

from vsebench.evaluation.metrics import with_places
from vsebench.evaluation.metrics.base import within

BANDS = 5


def recall_by_frequency(ranks: pl.DataFrame, training: pl.DataFrame, cutoff: int) -> pl.DataFrame:
    """Return the mean recall of labels, by how many training images they have.

    The recall of a label is the share of its held-out occurrences that are among an image's first `cutoff` labels.
    Labels without a held-out occurrence are in no group; of labels that are as frequent, the first ones come first.
    Where no label has a training image, as with labels that were never trained, there are no groups.

    Parameters
    ----------
    ranks : the table `schemas.RANKS` of a model
    training : the table `schemas.PAIRS` of the training and validation labels

    Returns
    -------
    A line for each of at most five groups, the most frequent labels first: band (from 1), labels, the fewest and the
    most training images of one of them, and value.
    """
    labels = with_places(ranks).group_by("label").agg(value=within(cutoff).mean())
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
