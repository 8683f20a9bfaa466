"""Compute the precision, recall and F1 of each label from the label sets that decisions choose."""

import numpy as np
import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.evaluation.analyses.base import AnalysedCase, Reads
from vsebench.evaluation.metrics.base import share
from vsebench.evaluation.reading import read_sets

SCHEMA: Schema = CASE | {
    "decision": pl.String,
    "label": pl.String,
    "images": pl.Int32,  # number of test images with the label
    "precision": pl.Float64,
    "recall": pl.Float64,
    "f1": pl.Float64,
}
READS = Reads(model=("ranks.parquet", "lists.parquet"), decided=("decisions.parquet",), dataset=("labels.parquet",))


def analyse(case: AnalysedCase) -> pl.DataFrame:
    """Return a row for each label, in the order of the labels' numbers; an undefined precision, recall or F1 is 0."""
    sets = read_sets(case.case, case.decision, case.results)
    hits, predicted, right = (counts[0] for counts in sets.of_labels(np.ones((sets.n_images, 1))))
    return pl.DataFrame(
        {
            "label": case.dataset.labels["name"],
            "images": right,
            "precision": share(hits, predicted),
            "recall": share(hits, right),
            "f1": share(2 * hits, predicted + right),
        }
    )
