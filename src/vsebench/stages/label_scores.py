"""Compute precision, recall and F1 of every label from the label sets that decisions chose."""

import argparse

import numpy as np
import polars as pl

from vsebench.cases import add_cases_arguments, named_entries
from vsebench.core.schemas import LABEL_SCORES
from vsebench.core.storage import read_parquet, write_table
from vsebench.evaluation.metrics.base import share
from vsebench.evaluation.reading import read_sets
from vsebench.evaluation.sets import LabelSets


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = []
    for case, decision in named_entries(arguments):
        names = read_parquet(arguments.processed / case.place.dataset / "labels.parquet").sort("label")["name"]
        keys = case.keys | {"decision": decision}
        found = label_scores(read_sets(case, decision, arguments.results)).with_columns(label=names)
        tables.append(found.with_columns(**{key: pl.lit(value) for key, value in keys.items()}))
    write_table(pl.concat(tables).select(*LABEL_SCORES).cast(LABEL_SCORES), LABEL_SCORES, arguments.out)


def label_scores(sets: LabelSets) -> pl.DataFrame:
    """Return one row per label, in their order: images, precision, recall, f1; 0 where the divisor is 0."""
    hits, predicted, right = (counts[0] for counts in sets.of_labels(np.ones((sets.n_images, 1))))
    return pl.DataFrame(
        {
            "images": right,
            "precision": share(hits, predicted),
            "recall": share(hits, right),
            "f1": share(2 * hits, predicted + right),
        }
    )
