"""Place the test images and the labels of models with vectors in a plane, for a figure.

Places whose test images are known have no lines, nor have models without vectors. Only the first seed is drawn.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import polars as pl

from vsebench.cases import add_cases_arguments, named_cases
from vsebench.core.places import Case
from vsebench.core.schemas import MAP_OF_VECTORS
from vsebench.core.storage import read_parquet, write_table
from vsebench.data.problem import HeldOut
from vsebench.evaluation.fitted import fitted
from vsebench.evaluation.map_of_vectors import plane
from vsebench.evaluation.retrieval import vectors_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)
    parser.add_argument("--features", type=json.loads, required=True, help='JSON: {"dataset": path, ...}')


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = [pl.DataFrame(schema=MAP_OF_VECTORS)]
    cases = (case for case in named_cases(arguments) if case.seed == arguments.seeds[0])
    for case, model, test, own in fitted(cases, arguments.results, arguments.features):
        vectors = None if test.known.n_pairs else vectors_of(model, test, own)
        if vectors is not None and vectors[1].shape[1] > 1:
            images, labels = plane(*vectors)
            tables.append(named(images, labels, case, test, arguments.processed / case.place.dataset))
    write_table(pl.concat(tables), MAP_OF_VECTORS, arguments.out)


def named(images: np.ndarray, labels: np.ndarray, case: Case, test: HeldOut, processed: Path) -> pl.DataFrame:
    """Return images and candidate labels with where they lie, as rows of `schemas.MAP_OF_VECTORS`."""
    names = read_parquet(processed / "labels.parquet").sort("label")["name"]
    ids = read_parquet(processed / "images.parquet")["id"].gather(test.images)
    carried = [names.gather(np.flatnonzero(row)).to_list() for row in test.right.mask()]
    shown = np.flatnonzero(test.candidates)
    tables = [
        pl.DataFrame({"name": ids, "is_label": False, "x": images[:, 0], "y": images[:, 1], "labels": carried}),
        pl.DataFrame({"name": names.gather(shown), "is_label": True, "x": labels[shown, 0], "y": labels[shown, 1]}),
    ]
    keys = {key: pl.lit(value) for key, value in case.keys.items()}
    found = pl.concat(tables, how="diagonal").with_columns(**keys)
    return found.select(*MAP_OF_VECTORS).cast(MAP_OF_VECTORS)
