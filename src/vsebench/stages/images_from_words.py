"""Rank the test images for each label, and list the first ones: how good a search for a word is, and what it finds.

Images are ranked by score, and by cosine where the model has vectors of images and labels. Places whose test images are
known have no lines, since a model would find an image by its other labels.
"""

import argparse
import json
from pathlib import Path

import polars as pl

from vsebench.cases import add_cases_arguments, named_cases
from vsebench.core.places import Case
from vsebench.core.schemas import IMAGES_FROM_WORDS
from vsebench.core.storage import read_parquet, write_table
from vsebench.data.problem import HeldOut
from vsebench.evaluation.fitted import fitted
from vsebench.evaluation.retrieval import cosines_of, retrieve, scores_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)
    parser.add_argument("--features", type=json.loads, required=True, help='JSON: {"dataset": path, ...}')


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = [pl.DataFrame(schema=IMAGES_FROM_WORDS)]
    for case, model, test, own in fitted(named_cases(arguments), arguments.results, arguments.features):
        if test.known.n_pairs:
            continue
        processed = arguments.processed / case.place.dataset
        for by, numbers in (("score", scores_of(model, test, own)), ("cosine", cosines_of(model, test, own))):
            if numbers is not None:
                found = retrieve(numbers, test.right.mask(), test.candidates)
                tables.append(named(found, case, by, test, processed))
    write_table(pl.concat(tables), IMAGES_FROM_WORDS, arguments.out)


def named(found: pl.DataFrame, case: Case, by: str, test: HeldOut, processed: Path) -> pl.DataFrame:
    """Return what `retrieve` found as rows of `schemas.IMAGES_FROM_WORDS`: labels by name, images by id."""
    labels = read_parquet(processed / "labels.parquet").select("label", "name")
    ids = read_parquet(processed / "images.parquet")["id"].gather(test.images)
    keys = {key: pl.lit(value) for key, value in case.keys.items()}
    return (
        found.join(labels, on="label", how="left", maintain_order="left")
        .with_columns(
            label="name",
            by=pl.lit(by),
            first=pl.Series([ids.gather(rows).to_list() for rows in found["first"]], dtype=pl.List(pl.String)),
            **keys,
        )
        .select(*IMAGES_FROM_WORDS)
        .cast(IMAGES_FROM_WORDS)
    )
