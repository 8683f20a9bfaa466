"""Write the labels' vectors of some models, of length 1; models without vectors have no lines."""

import argparse

import numpy as np
import polars as pl

from vsebench import models
from vsebench.cases import add_cases_arguments, named_cases
from vsebench.core.schemas import LABEL_VECTORS
from vsebench.core.storage import read_parquet, write_table
from vsebench.evaluation.retrieval import unit
from vsebench.models import Embedded


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = [pl.DataFrame(schema=LABEL_VECTORS)]
    for case in named_cases(arguments):
        model = models.load(case.folder(arguments.results) / "model.npz")
        if not isinstance(model, Embedded):
            continue
        names = read_parquet(arguments.processed / case.place.dataset / "labels.parquet").sort("label")["name"]
        # Labels of a data set that only trains, at a place of two, come last.
        vectors = unit(model.label[: len(names), : -1 if model.biased else None]).astype(np.float32)
        keys = {key: pl.lit(value) for key, value in case.keys.items()}
        found = pl.DataFrame({"label": names, "vector": vectors}).with_columns(**keys)
        tables.append(found.select(*LABEL_VECTORS).cast(LABEL_VECTORS))
    write_table(pl.concat(tables), LABEL_VECTORS, arguments.out)
