"""Find the labels that are nearest to each label in an embedding, by the cosine of their vectors."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.schemas import CASE, Schema
from vsebench.data.problem import Matrix
from vsebench.evaluation.analyses.base import AnalysedCase, Reads, normalise_rows
from vsebench.models import Embedded

SCHEMA: Schema = CASE | {
    "label": pl.String,
    "frequency": pl.Int32,  # number of training images with the label
    "siblings": pl.Int32,  # number of siblings of the label; null if the data set has no siblings
    "n_labels": pl.Int32,
    "rank": pl.Int32,
    "neighbour": pl.String,
    "cosine": pl.Float64,  # the cosine of the two labels' vectors
    "sibling": pl.Boolean,  # whether the neighbour is a sibling of the label; null if the data set has no siblings
}
READS = Reads(model=("model.npz",), dataset=("labels.parquet",), siblings=True)
NEAREST = 9  # number of neighbours per label


def analyse(case: AnalysedCase) -> pl.DataFrame:
    if not isinstance(case.model, Embedded):
        raise UserError(
            f"{case}: the model has no label vectors; in the paper's file in config/papers, name a method that has them"
        )
    labels, siblings = case.dataset.labels.select("label", "name", "frequency"), case.dataset.siblings
    # If a second data set is used for training only, its additional labels come last. Biases are left out, because they
    # are not part of a vector's direction.
    order, cosines = nearest(case.model.label[: labels.height, : -1 if case.model.biased else None])
    n_labels, n_nearest = order.shape
    neighbours = pl.DataFrame(
        {
            "label": np.repeat(np.arange(n_labels, dtype=np.int32), n_nearest),
            "rank": np.tile(np.arange(1, n_nearest + 1, dtype=np.int32), n_labels),
            "other": order.ravel().astype(np.int32),
            "cosine": cosines.ravel().astype(np.float64),
        }
    )
    if siblings is None:
        neighbours = neighbours.with_columns(sibling=pl.lit(None, pl.Boolean), siblings=pl.lit(None, pl.Int32))
    else:
        pairs = siblings.select("label", other="sibling").with_columns(sibling=True)
        numbers = siblings.group_by("label").agg(siblings=pl.len().cast(pl.Int32))
        neighbours = neighbours.join(pairs, on=["label", "other"], how="left").join(numbers, on="label", how="left")
        neighbours = neighbours.with_columns(pl.col("sibling").fill_null(False), pl.col("siblings").fill_null(0))
    neighbours = neighbours.join(labels, on="label").join(labels.select(other="label", neighbour="name"), on="other")
    return neighbours.sort("label", "rank").with_columns(label="name", n_labels=pl.lit(n_labels))


def nearest(vectors: Matrix) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the nearest other labels of each label, and their cosines with the label.

    `vectors` is (n_labels, K) float32. A zero vector has the cosine 0 with all other vectors. Each of the two results
    has a row for each label and up to `NEAREST` columns, with the nearest label first.
    """
    directions = normalise_rows(vectors)
    cosines: Matrix = directions @ directions.T
    np.fill_diagonal(cosines, -np.inf)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, : min(NEAREST, len(vectors) - 1)]
    return order, np.take_along_axis(cosines, order, axis=1)
