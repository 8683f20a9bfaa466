"""Precision and sibling precision of the first labels of the lists, for every length of a list.

Sibling precision counts a label as well that has a sibling among the image's held-out labels: the share of the first k
labels that are held out or a sibling of one that is. It is divided by k alone, so a label without siblings has its
precision. Source: Weston, Bengio and Usunier, Large scale image annotation, Machine Learning 81(1), 2010, section 6.2.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

PAIR = ["image", "label"]


def hits(lists: pl.DataFrame, right: pl.DataFrame, siblings: pl.DataFrame | None) -> pl.DataFrame:
    """Return which labels of the lists are held out, and which are that or a sibling of one that is.

    Parameters
    ----------
    lists : the table `schemas.LISTS` of a model
    right : columns image and label: the held-out labels; images without one are left out
    siblings : columns label and sibling, each pair in both directions; None if the data set has none

    Returns
    -------
    `lists` with the columns right and sibling, Boolean, sorted by image and place; sibling is null without `siblings`.
    """
    right = right.select(PAIR).unique()
    found = lists.join(right.select("image").unique(), on="image", how="semi")
    found = found.join(right.with_columns(right=True), on=PAIR, how="left").with_columns(
        pl.col("right").fill_null(False)
    )
    if siblings is None:
        return found.with_columns(sibling=pl.lit(None, pl.Boolean)).sort("image", "place")
    near = right.join(siblings, on="label").select("image", label="sibling").unique().with_columns(sibling=True)
    found = found.join(near, on=PAIR, how="left")
    return found.with_columns(sibling=pl.col("sibling").fill_null(False) | pl.col("right")).sort("image", "place")


def by_image(found: pl.DataFrame, cutoff: int) -> NDArray[np.float64]:
    """Return precision and sibling precision of the first `cutoff` labels, (n_images, 2), by ascending image.

    Parameters
    ----------
    found : what `hits` returns, with siblings
    """
    counted = pl.col("right", "sibling").filter(pl.col("place") <= cutoff).sum().cast(pl.Float64) / cutoff
    return found.group_by("image").agg(counted).sort("image").select("right", "sibling").to_numpy()


def means(found: pl.DataFrame, longest: int) -> pl.DataFrame:
    """Return the means over images: columns cutoff (1 to `longest`), precision and sibling_precision."""
    n_images = found["image"].n_unique()
    has_siblings = not found["sibling"].has_nulls()
    rows = []
    for cutoff in range(1, longest + 1):
        first = found.filter(pl.col("place") <= cutoff)
        counts = [first["right"].sum(), first["sibling"].sum() if has_siblings else None]
        rows.append((cutoff, *(None if count is None else count / (cutoff * n_images) for count in counts)))
    columns = {"cutoff": pl.Int32, "precision": pl.Float64, "sibling_precision": pl.Float64}
    return pl.DataFrame(rows, schema=columns, orient="row")
