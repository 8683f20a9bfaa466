"""Compute the full-sample loss of VSE-fs for the embeddings of some rows, on what they have learnt from."""

import argparse

import polars as pl

from vsebench import models
from vsebench.cases import add_cases_arguments, named_cases
from vsebench.core.errors import UserError
from vsebench.core.schemas import FULL_SAMPLE_LOSS
from vsebench.core.storage import read_json, write_table
from vsebench.data import splits
from vsebench.evaluation.full_sample_loss import full_sample_losses
from vsebench.methods.base import load_method
from vsebench.methods.by_labels.vse_fs import VseFs
from vsebench.models import Embeddings

BETAS = [1.0, 2.0, 4.0, 16.0, 128.0]  # values of beta_0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = [pl.DataFrame(schema=FULL_SAMPLE_LOSS)]
    for case in named_cases(arguments):
        model = models.load(case.folder(arguments.results) / "model.npz")
        if not isinstance(model, Embeddings):
            raise UserError(f"{case}: the model has no vectors of images; name another row in the paper's file")
        record = read_json(case.folder(arguments.results) / "run.json")
        training = splits.load(case.split(arguments.results), refit=record["refit"]).final.labels
        extends = load_method(record["module"]) is VseFs
        gamma = record["selection"]["settings"]["gamma"] if extends else 0.0
        losses = full_sample_losses(model.image, model.label, training, BETAS, gamma)
        keys = {key: pl.lit(value) for key, value in case.keys.items()}
        found = pl.DataFrame({"beta_0": BETAS, "loss": losses}).with_columns(**keys)
        tables.append(found.select(*FULL_SAMPLE_LOSS).cast(FULL_SAMPLE_LOSS))
    write_table(pl.concat(tables), FULL_SAMPLE_LOSS, arguments.out)
