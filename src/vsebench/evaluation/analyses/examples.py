"""Write the first labels that some models give to a few test images, with the right ones and their siblings marked."""

import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.evaluation.analyses.base import AnalysedCase, Reads

SCHEMA: Schema = CASE | {
    "image": pl.String,
    "number": pl.Int32,  # of the image among the examples
    "truth": pl.String,  # its held-out labels
    "place": pl.Int32,
    "label": pl.String,
    "right": pl.Boolean,
    "sibling": pl.Boolean,  # of a held-out label, or one itself; null where the data set has none
}
READS = Reads(model=("ranks.parquet", "lists.parquet"), dataset=("labels.parquet", "images.parquet"), siblings=True)
PAIR = ["image", "label"]
IMAGES = 5  # the first test images with a label, of each place and seed


def analyse(case: AnalysedCase) -> pl.DataFrame:
    """Return the first labels of the first test images with a label."""
    ranks, names = case.table("ranks"), case.dataset.labels.select("label", "name")
    truth = ranks.join(names, on="label").sort("image", "label").group_by("image", maintain_order=True)
    shown = truth.agg(truth=pl.col("name").str.join(", ")).head(IMAGES).with_row_index("number", offset=1)
    return (
        marked(case.table("lists"), ranks, case.dataset.siblings)
        .join(shown, on="image")
        .join(names, on="label")
        .join(case.dataset.images.select("image", "id"), on="image")
        .sort("number", "place")
        .with_columns(image="id", label="name")
    )


def marked(lists: pl.DataFrame, right: pl.DataFrame, siblings: pl.DataFrame | None) -> pl.DataFrame:
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
