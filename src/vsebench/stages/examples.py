"""Write the first labels that some models give to a few test images, with the right ones and their siblings marked."""

import argparse

import polars as pl

from vsebench.cases import add_cases_arguments, named_cases, siblings_of
from vsebench.core.places import Case
from vsebench.core.schemas import EXAMPLES
from vsebench.core.storage import read_parquet, write_table

PAIR = ["image", "label"]
IMAGES = 5  # the first test images with a label, of each place and seed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = []
    for case in named_cases(arguments):
        folder, processed = case.folder(arguments.results), arguments.processed / case.place.dataset
        ranks = read_parquet(folder / "ranks.parquet")
        found = marked(read_parquet(folder / "lists.parquet"), ranks, siblings_of(arguments, case.place.dataset))
        names = read_parquet(processed / "labels.parquet").select("label", "name")
        images = read_parquet(processed / "images.parquet").select("image", "id")
        tables.append(examples_of(case, found, ranks, names, images))
    write_table(pl.concat(tables), EXAMPLES, arguments.out)


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


def examples_of(
    case: Case, found: pl.DataFrame, ranks: pl.DataFrame, names: pl.DataFrame, images: pl.DataFrame
) -> pl.DataFrame:
    """Return the rows of EXAMPLES of one case.

    Parameters
    ----------
    found : what `marked` returns
    ranks : the table RANKS of the case
    names : columns label and name
    images : columns image and id
    """
    truth = ranks.join(names, on="label").sort("image", "label").group_by("image", maintain_order=True)
    shown = truth.agg(truth=pl.col("name").str.join(", ")).head(IMAGES).with_row_index("number", offset=1)
    return (
        found.join(shown, on="image")
        .join(names, on="label")
        .join(images, on="image")
        .sort("number", "place")
        .with_columns(image="id", label="name", **{key: pl.lit(value) for key, value in case.keys.items()})
        .select(*EXAMPLES)
        .cast(EXAMPLES)
    )
