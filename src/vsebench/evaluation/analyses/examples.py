"""List the labels that models rank first for a few test images, and mark the correct labels and their siblings."""

import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.evaluation.analyses.base import AnalysedCase, Reads

SCHEMA: Schema = CASE | {
    "image": pl.String,
    "number": pl.Int32,  # the image's number among those shown, from 1
    "truth": pl.String,  # the held-out labels of the image
    "rank": pl.Int32,
    "label": pl.String,
    "right": pl.Boolean,
    "sibling": pl.Boolean,  # whether the label is held out or a sibling of a held-out label; null without siblings
}
READS = Reads(model=("ranks.parquet", "lists.parquet"), dataset=("labels.parquet", "images.parquet"), siblings=True)
PAIR = ["image", "label"]
IMAGES = 5  # number of test images to show per task and seed: the first ones with a held-out label


def analyse(case: AnalysedCase) -> pl.DataFrame:
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
    """Add to `lists` two Boolean columns that mark the correct labels and their siblings.

    - `right` is true for the held-out labels of the image.
    - `sibling` is true for the held-out labels and their siblings. Without `siblings`, this column is null.

    `lists` and `siblings` are the tables LISTS and SIBLINGS of `core.schemas`; the argument `right` contains a pair
    (image, label) for each held-out label. Images without a held-out label are left out.
    """
    right = right.select(PAIR).unique()
    marked = lists.join(right, on="image", how="semi").join(right.with_columns(right=True), on=PAIR, how="left")
    marked = marked.with_columns(pl.col("right").fill_null(False)).sort("image", "rank")
    if siblings is None:
        return marked.with_columns(sibling=pl.lit(None, pl.Boolean))
    near = right.join(siblings, on="label").select("image", label="sibling").unique().with_columns(sibling=True)
    marked = marked.join(near, on=PAIR, how="left", maintain_order="left")
    return marked.with_columns(sibling=pl.col("sibling").fill_null(False) | pl.col("right"))
