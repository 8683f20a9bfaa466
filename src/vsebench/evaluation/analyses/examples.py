"""Write the first labels of some models for a few test images, with correct labels and their siblings marked."""

import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.evaluation.analyses.base import AnalysedCase, Reads

SCHEMA: Schema = CASE | {
    "image": pl.String,
    "number": pl.Int32,  # of the image among the examples, from 1
    "truth": pl.String,  # its held-out labels
    "rank": pl.Int32,
    "label": pl.String,
    "right": pl.Boolean,
    "sibling": pl.Boolean,  # held-out label or sibling of one; null if the data set has no siblings
}
READS = Reads(model=("ranks.parquet", "lists.parquet"), dataset=("labels.parquet", "images.parquet"), siblings=True)
PAIR = ["image", "label"]
IMAGES = 5  # the first test images with a label, per task and seed


def analyse(case: AnalysedCase) -> pl.DataFrame:
    """Return the first labels of the first test images with a label."""
    ranks, names = case.table("ranks"), case.dataset.labels.select("label", "name")
    truth = ranks.join(names, on="label").sort("image", "label").group_by("image", maintain_order=True)
    shown = truth.agg(truth=pl.col("name").str.join(", ")).head(IMAGES).with_row_index("number", offset=1)
    return (
        mark_correct(case.table("lists"), ranks, case.dataset.siblings)
        .join(shown, on="image")
        .join(names, on="label")
        .join(case.dataset.images.select("image", "id"), on="image")
        .sort("number", "rank")
        .with_columns(image="id", label="name")
    )


def mark_correct(lists: pl.DataFrame, right: pl.DataFrame, siblings: pl.DataFrame | None) -> pl.DataFrame:
    """Mark the listed labels that are held out, and those that are siblings of a held-out label or held out themselves.

    Parameters
    ----------
    lists : the table `schemas.LISTS` of a model
    right : columns image and label: the held-out labels; images without one are left out
    siblings : columns label and sibling, each pair in both directions; None if the data set has none

    Returns
    -------
    `lists` with the Boolean columns right and sibling, sorted by image and rank; sibling is null without `siblings`.
    """
    right = right.select(PAIR).unique()
    marked_lists = lists.join(right.select("image").unique(), on="image", how="semi")
    marked_lists = marked_lists.join(right.with_columns(right=True), on=PAIR, how="left").with_columns(
        pl.col("right").fill_null(False)
    )
    if siblings is None:
        return marked_lists.with_columns(sibling=pl.lit(None, pl.Boolean)).sort("image", "rank")
    near = right.join(siblings, on="label").select("image", label="sibling").unique().with_columns(sibling=True)
    marked_lists = marked_lists.join(near, on=PAIR, how="left")
    return marked_lists.with_columns(sibling=pl.col("sibling").fill_null(False) | pl.col("right")).sort("image", "rank")
