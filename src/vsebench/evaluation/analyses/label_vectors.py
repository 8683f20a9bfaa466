"""Write the labels' vectors of some models, of length 1; models without vectors have no lines."""

import numpy as np
import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.evaluation.analyses.base import AnalysedCase, Reads, unit
from vsebench.models import Embedded

SCHEMA: Schema = CASE | {
    "label": pl.String,
    "vector": pl.List(pl.Float32),  # of length 1
}
READS = Reads(model=("model.npz",), dataset=("labels.parquet",))


def analyse(case: AnalysedCase) -> pl.DataFrame | None:
    """Return the vector of each label."""
    model, names = case.model, case.dataset.labels["name"]
    if not isinstance(model, Embedded):
        return None
    # Labels of a data set that only trains, at a place of two, come last.
    vectors = unit(model.label[: len(names), : -1 if model.biased else None]).astype(np.float32)
    return pl.DataFrame({"label": names, "vector": vectors})
