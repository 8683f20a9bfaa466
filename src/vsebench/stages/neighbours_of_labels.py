"""Find the nearest labels of every label in the embeddings of some models, by the cosine of the labels' vectors."""

import argparse

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench import models
from vsebench.cases import add_cases_arguments, named_cases, siblings_of
from vsebench.core.errors import UserError
from vsebench.core.places import Case
from vsebench.core.schemas import NEIGHBOURS_OF_LABELS
from vsebench.core.storage import read_parquet, write_table
from vsebench.data.problem import Matrix
from vsebench.models import Embedded

NEAREST = 9  # neighbours per label


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = []
    for case in named_cases(arguments):
        model = models.load(case.folder(arguments.results) / "model.npz")
        if not isinstance(model, Embedded):
            raise UserError(f"{case}: the model has no vectors of labels; name another row in the paper's file")
        labels = read_parquet(arguments.processed / case.place.dataset / "labels.parquet").sort("label")
        siblings = siblings_of(arguments, case.place.dataset)
        own = model.label[: labels.height]  # those of a data set that only trains, at a place of two, come last
        tables.append(neighbours_of(case, *nearest(own), labels, siblings))
    write_table(pl.concat(tables), NEIGHBOURS_OF_LABELS, arguments.out)


def nearest(vectors: Matrix) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the nearest other labels of each label and their cosines, (n_labels, up to NEAREST), the nearest first.

    Parameters
    ----------
    vectors : (n_labels, K) float32; a label whose vector is 0 has the cosine 0 with all
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
    cosines: Matrix = unit @ unit.T
    np.fill_diagonal(cosines, -np.inf)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, : min(NEAREST, len(vectors) - 1)]
    return order, np.take_along_axis(cosines, order, axis=1)


def neighbours_of(
    case: Case,
    order: NDArray[np.int64],
    cosines: NDArray[np.float32],
    labels: pl.DataFrame,
    siblings: pl.DataFrame | None,
) -> pl.DataFrame:
    """Return the rows of NEIGHBOURS_OF_LABELS of one case; `order` and `cosines` as `nearest` returns them."""
    n_labels, n_nearest = order.shape
    found = pl.DataFrame(
        {
            "label": np.repeat(np.arange(n_labels, dtype=np.int32), n_nearest),
            "place": np.tile(np.arange(1, n_nearest + 1, dtype=np.int32), n_labels),
            "other": order.ravel().astype(np.int32),
            "cosine": cosines.ravel().astype(np.float64),
        }
    )
    if siblings is None:
        found = found.with_columns(sibling=pl.lit(None, pl.Boolean), siblings=pl.lit(None, pl.Int32))
    else:
        pairs = siblings.select("label", other="sibling").with_columns(sibling=True)
        numbers = siblings.group_by("label").agg(siblings=pl.len().cast(pl.Int32))
        found = found.join(pairs, on=["label", "other"], how="left").join(numbers, on="label", how="left")
        found = found.with_columns(pl.col("sibling").fill_null(False), pl.col("siblings").fill_null(0))
    named = labels.select("label", "name", "frequency")
    found = found.join(named, on="label").join(named.select(other="label", neighbour="name"), on="other")
    keys = {key: pl.lit(value) for key, value in case.keys.items()}
    return (
        found.sort("label", "place")
        .with_columns(label="name", n_labels=pl.lit(n_labels), **keys)
        .select(*NEIGHBOURS_OF_LABELS)
        .cast(NEIGHBOURS_OF_LABELS)
    )
