"""Compute how far the negatives that fitted models of VSE-ens draw are from those of the rank sampler."""

import argparse

import numpy as np
import polars as pl

from vsebench import models
from vsebench.cases import add_cases_arguments, named_cases
from vsebench.core.errors import UserError
from vsebench.core.schemas import SAMPLER_DISTANCE
from vsebench.core.storage import read_json, write_table
from vsebench.data import splits
from vsebench.evaluation.sampler_distance import distances
from vsebench.models import Embeddings

IMAGES = 500  # evenly spread over those with a training label


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = [pl.DataFrame(schema=SAMPLER_DISTANCE)]
    for case in named_cases(arguments):
        folder = case.folder(arguments.results)
        model, record = models.load(folder / "model.npz"), read_json(folder / "run.json")
        settings = record["selection"]["settings"]
        if not isinstance(model, Embeddings) or "rank_scale" not in settings:
            raise UserError(f"{case}: it is no row of the method vse_ens; name another row in the paper's file")
        training = splits.load(case.split(arguments.results), refit=record["refit"]).final.labels
        known = np.flatnonzero(training.n_labels_of_row)
        images = known[np.unique(np.linspace(0, len(known) - 1, IMAGES).astype(np.int32))].astype(np.int32)
        scale = settings["rank_scale"] * len(model.label)
        of_lists, of_uniform = distances(model.image[images], model.label, scale)
        keys = {key: pl.lit(value) for key, value in case.keys.items()}
        found = pl.DataFrame({"image": images, "lists": of_lists, "uniform": of_uniform}).with_columns(**keys)
        tables.append(found.select(*SAMPLER_DISTANCE).cast(SAMPLER_DISTANCE))
    write_table(pl.concat(tables), SAMPLER_DISTANCE, arguments.out)
